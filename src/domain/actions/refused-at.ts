import { refused } from '../yaml/fields.ts';
import type { YamlValue } from '../yaml/file.ts';
import type { ActionRefused } from './action-refused.ts';

/** The refusal of a field of an action, with its line, or the line of the word of a command that has the fault. */
export function actionRefused(prefix: string, action: YamlValue, { field, what, word }: ActionRefused): Error {
  const value = (action.kind === 'map' ? action.fields.get(field) : undefined) ?? action;
  const faulty = value.kind === 'list' && word !== null ? value.items[word] : undefined;
  return refused(`${prefix}${field}`, faulty ?? value, what);
}
