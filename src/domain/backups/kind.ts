import type { KindFacts } from '../jobs/kind.ts';
import type { BackupSpec } from './backup.ts';

export const backupKind: KindFacts<BackupSpec> = {
  readSpec: (json) => JSON.parse(json) as BackupSpec,
  runbook: ({ name }) => `backup:${name}`,
  words: { title: (of) => `Back up ${of}`, short: 'backup' },
  stop: 'group',
  startsAtOnce: false,
  oneTap: 'never',
  makesPlan: false,
  destroysAll: false,
};
