import { given, optionalText, type RuleActionRow } from '../actions/action-row.ts';
import { field, name, optional, timeout } from '../actions/field.ts';
import { refused, textOf } from '../yaml/fields.ts';
import type { YamlValue } from '../yaml/file.ts';

/** What an action that makes a backup says beside its kind. */
export interface BackupAction {
  /** The name of the backup. */
  readonly backup: string;
  readonly timeout: string | null;
}

export const backupRuleAction: RuleActionRow<BackupAction> = {
  others: ['timeout'],
  read: (map, value, prefix) => ({
    backup: nameIn(`${prefix}backup`, value),
    timeout: optionalText(map, 'timeout', prefix),
  }),
  write: ({ backup, timeout: time }) => ({ backup, ...given('timeout', time) }),
  subjects: () => [],
  async compile(action) {
    const backup = await field('backup', action.backup, name);
    const time = await optional('timeout', action.timeout, timeout);
    return (fill) => ({ backup: fill(backup), timeout: time && fill(time) });
  },
};

/** `true` is meant as "make one": as a name, a backup would be called `true`. */
function nameIn(named: string, value: YamlValue): string {
  if (value.kind === 'text' && value.type === 'boolean')
    throw refused(named, value, 'expected the name of the backup, such as nightly');
  return textOf(named, value);
}
