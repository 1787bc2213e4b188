import type { CelRefused } from '../cel/refused.ts';
import { Failure } from '../failure.ts';
import type { ActionRefused } from './action-refused.ts';
import type { YamlValue } from '../yaml/file.ts';

/** The refusal of a field of a rule file, with its line. */
export function refused(field: string, value: Pick<YamlValue, 'line'>, what: string): Failure {
  return new Failure('invalid_argument', `${field}${lineOf(value)}: ${what}.`);
}

/** The line of a value in words, to stand behind the name of its field. */
export function lineOf({ line }: Pick<YamlValue, 'line'>): string {
  return ` (line ${line})`;
}

/** The refusal of a `when`, with the line of the file that the fault is on where the expression goes over several. */
export function conditionRefused(when: YamlValue, fault: CelRefused): Failure {
  const { offset } = fault;
  const start =
    when.kind === 'text' && offset !== null ? when.starts?.findLast((each) => each.offset <= offset) : undefined;
  if (start === undefined || offset === null) return refused('when', when, fault.message);
  return refused('when', start, `character ${offset - start.offset + 1}: ${fault.what}`);
}

/**
 * The refusal of a field of an action, with the line of that field; of a command with that of the word, where it is one
 * word's.
 */
export function actionRefused(action: YamlValue, { field, what, word }: ActionRefused): Failure {
  const value = (action.kind === 'map' ? action.fields.get(field) : undefined) ?? action;
  const faulty = value.kind === 'list' && word !== null ? value.items[word] : undefined;
  return refused(`action.${field}`, faulty ?? value, what);
}
