import type * as z from 'zod';
import type { BackupAction } from '../../domain/backups/action.ts';
import type { ActionInput } from '../core/action-input.ts';
import * as field from '../core/fields.ts';

export const BACKUP_FIELDS = {
  backup: field.as('NAME', field.name.clone()).optional().describe('Back up the store, under this name'),
};

export const backupInput: ActionInput<z.output<z.ZodObject<typeof BACKUP_FIELDS>>, BackupAction> = {
  read: ({ backup }) => (backup === undefined ? null : (timeout) => ({ backup, timeout })),
  refusal: () => null,
};
