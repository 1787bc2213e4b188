import type { KindFacts } from '../jobs/kind.ts';

/** What a job that changes the configuration needs; its file and its changes are stored beside it. */
export interface ConfigSpec {
  /** Of the file; null for one that manages nothing. */
  readonly set: string | null;
  readonly prune: boolean;
  readonly take: boolean;
  /** SHA-256, hex: of the text of the file, and of the changes as people see them. */
  readonly file: string;
  readonly shown: string;
  /** SHA-256, hex, of what the file changes: it must be the same when the job runs. */
  readonly changes: string;
  /** How many objects. */
  readonly count: number;
  /** In whose name the changes are made. */
  readonly author: ConfigAuthor;
}

interface ConfigAuthor {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly via: 'api' | 'cli' | 'mcp' | 'web';
}

export const configKind: KindFacts<ConfigSpec> = {
  readSpec: (json) => JSON.parse(json) as ConfigSpec,
  runbook: () => 'config:apply',
  about: ({ set, count }) =>
    `${count === 1 ? '1 object' : `${count} objects`}${set === null ? '' : ` of the set ${set}`}`,
  words: { title: (of) => `Change the configuration: ${of}`, short: 'change' },
  stop: 'group',
  startsAtOnce: false,
  oneTap: 'never',
  makesPlan: false,
  destroysAll: false,
  needsConsole: true,
};
