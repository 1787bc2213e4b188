import type { KindFacts } from '../jobs/kind.ts';
import type { PlaybookSpec } from './playbook.ts';

export const playbookKind: KindFacts<PlaybookSpec> = {
  readSpec: (json) => JSON.parse(json) as PlaybookSpec,
  runbook: ({ playbook }) => `playbook:${playbook}`,
  about: ({ playbook, inventory }) => `${playbook} on ${inventory}`,
  words: { title: (of) => `Run playbook ${of}`, short: 'playbook run' },
  stop: 'group',
  startsAtOnce: false,
  oneTap: 'by-rule',
  makesPlan: false,
  destroysAll: false,
};
