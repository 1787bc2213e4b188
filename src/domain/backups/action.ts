import { given, optionalText, type RuleActionRow } from '../actions/action-row.ts';
import { field, name, optional, timeout } from '../actions/field.ts';
import { textOf } from '../yaml/fields.ts';

/** What an action that makes a backup says beside its kind. */
export interface BackupAction {
  /** The name of the backup. */
  readonly backup: string;
  readonly timeout: string | null;
}

export const backupRuleAction: RuleActionRow<BackupAction> = {
  others: ['timeout'],
  read: (map, value, prefix) => ({
    backup: textOf(`${prefix}backup`, value),
    timeout: optionalText(map, 'timeout', prefix),
  }),
  write: ({ backup, timeout: time }) => ({ backup, ...given('timeout', time) }),
  async compile(action) {
    const backup = await field('backup', action.backup, name);
    const time = await optional('timeout', action.timeout, timeout);
    return (fill) => ({ backup: fill(backup), timeout: time && fill(time) });
  },
};
