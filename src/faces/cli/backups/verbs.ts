import type { Verb } from '../syntax/tree.ts';

/** For the table of programs. */
export const RESTORE_VERB: Verb = {
  path: 'backup restore',
  summary: 'Restore a backup into an empty or new data directory',
  examples: [
    'svc backup restore bak_01m7yd4zyke00anp2z332d2j5p --into /var/lib/gatehouse',
    'svc backup restore /mnt/backups/store.backup --into /var/lib/gatehouse --seal-key-file /mnt/usb/gatehouse.key',
  ],
  positionals: [{ field: 'id_or_file', type: 'string', required: true }],
  flags: [
    {
      name: 'into',
      field: 'into',
      type: 'string',
      placeholder: 'DIR',
      required: true,
      help: 'Data directory to make; empty or new',
    },
  ],
  call: { program: 'backup-restore' },
};
