import { reachOf } from '../../domain/actions/reach.ts';
import { givenReveal } from '../../domain/actions/reveal.ts';
import type { PlaybookAction } from '../../domain/playbooks/action.ts';
import { playbookKind } from '../../domain/playbooks/kind.ts';
import type { PlaybookSpec } from '../../domain/playbooks/playbook.ts';
import { holdSource } from '../../store/sources/sources.ts';
import type { ActionRow } from '../action-row.ts';
import { requireTargetHosts } from '../inventories/targets.ts';
import { queuePlaybook, requireProject } from './queue.ts';

export const playbookAction: ActionRow<PlaybookAction> = {
  runbook: (action) => playbookKind.runbook(specOf(action)),
  async requireTargets(tx, action, known) {
    if (known(action.source)) await holdSource(tx, action.source);
    if (action.vaultProject !== null) await requireProject(tx, action.vaultProject);
    await requireTargetHosts(tx, action, known);
  },
  queue: (queueing, action) => {
    const { privileged } = reachOf(action);
    const request = { spec: specOf(action), parallel: false, privileged, timeoutMs: action.timeoutMs };
    return queuePlaybook(queueing, request);
  },
};

function specOf(action: PlaybookAction): PlaybookSpec {
  const { playbook, source, inventory, limit, tags, skipTags, check, diff, extraVars, isOfEvent } = action;
  const { tolerateUnreachable, vaultProject } = action;
  const { egressPorts, writable } = reachOf(action);
  return {
    playbook,
    source,
    dir: null,
    inventory,
    limit,
    tags,
    skipTags,
    check,
    diff,
    extraVars,
    ...(isOfEvent === true ? { limitIsOfEvent: true } : {}),
    tolerateUnreachable,
    ...givenReveal(action),
    egressPorts,
    ...(writable.length > 0 ? { writable } : {}),
    runSecrets: {},
    vaultProject,
  };
}
