import { placeOf } from '../inventories/limit.ts';
import type { KindFacts } from '../jobs/kind.ts';
import type { PlaybookSpec } from './playbook.ts';

export const playbookKind: KindFacts<PlaybookSpec> = {
  readSpec: (json) => JSON.parse(json) as PlaybookSpec,
  runbook: ({ playbook }) => `playbook:${playbook}`,
  about: (spec) => `${spec.playbook} on ${placeOf(spec)}`,
  inventory: ({ inventory }) => inventory,
  run: ({ check }) => ({ of: 'playbook', check }),
  directory: ({ source, dir, dirKept = null }) =>
    source === null && dir !== null ? { path: dir, kept: dirKept } : null,
  leavesPlugins: true,
  command: (spec) => ({ words: wordsOf(spec), writable: spec.writable }),
  words: { title: (of) => `Run playbook ${of}`, short: 'playbook run' },
  stop: 'group',
  startsAtOnce: false,
  oneTap: 'by-rule',
  makesPlan: false,
  destroysAll: false,
};

/** The command line of Ansible that does the same; the inventory is the name of the stored one. */
function wordsOf({ playbook, inventory, limit, tags, skipTags, check, diff, extraVars }: PlaybookSpec): string[] {
  return [
    'ansible-playbook',
    ...option('inventory', inventory),
    ...option('limit', limit ?? ''),
    ...option('tags', tags.join(',')),
    ...option('skip-tags', skipTags.join(',')),
    ...(check ? ['--check'] : []),
    ...(diff ? ['--diff'] : []),
    ...option('extra-vars', Object.keys(extraVars).length === 0 ? '' : JSON.stringify(extraVars)),
    playbook,
  ];
}

function option(name: string, value: string): string[] {
  return value === '' ? [] : [`--${name}=${value}`];
}
