import { placeOf } from '../inventories/limit.ts';
import type { KindFacts } from '../jobs/kind.ts';
import type { CommandSpec } from './command.ts';

export const commandKind: KindFacts<CommandSpec> = {
  readSpec: (json) => JSON.parse(json) as CommandSpec,
  runbook: ({ inventory }) => `command:${inventory}`,
  about: placeOf,
  inventory: ({ inventory }) => inventory,
  run: () => ({ of: 'command' }),
  command: ({ command: words, writable }) => ({ words, writable }),
  words: { title: (of) => `Run a command on ${of}`, short: 'command' },
  stop: 'group',
  startsAtOnce: true,
  oneTap: 'by-rule',
  makesPlan: false,
  destroysAll: false,
};
