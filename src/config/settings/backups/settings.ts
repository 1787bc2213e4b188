import { optionalPath, setting, wholeNumber } from '../setting-values.ts';

/** Two weeks of daily backups. */
const KEEP_BACKUPS_DEFAULT = 14;

/** Where backups are, and how many are kept. */
export const BACKUP_SETTINGS = {
  backupDir: setting({
    flag: 'backup-dir',
    placeholder: 'DIR',
    help: 'Directory of the backups, best on another disk; default backups in the data directory',
    decides: 'folder',
    read: optionalPath,
  }),
  keepBackups: setting({
    flag: 'keep-backups',
    placeholder: 'N',
    only: ['serve'],
    help: `Backups of each name to keep; default ${KEEP_BACKUPS_DEFAULT}; 0 keeps all`,
    read: (text) => wholeNumber('keep-backups', text, KEEP_BACKUPS_DEFAULT, [0, 10_000]),
  }),
} as const;
