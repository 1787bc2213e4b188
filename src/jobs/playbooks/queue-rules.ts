import { playbookKind } from '../../domain/playbooks/kind.ts';
import { type QueueRules, UNCHANGING } from '../queue-rules.ts';

export const PLAYBOOK_RULES: QueueRules = {
  ...UNCHANGING,
  order(_db, job) {
    const { dir, limitIsOfEvent: isOfEvent, runSecrets, vaultProject, ...spec } = playbookKind.readSpec(job.spec);
    const vault = vaultProject === null ? [] : [`${vaultProject}/*`];
    return Promise.resolve({ ...spec, isOfEvent, path: dir, secrets: [...Object.values(runSecrets), ...vault] });
  },
};
