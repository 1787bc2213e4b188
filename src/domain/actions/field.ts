import { CelRefused } from '../cel/refused.ts';
import type { EventFacts } from '../events/event.ts';
import { readJobTimeout } from '../jobs/timeout.ts';
import { NAME } from '../name.ts';
import { ActionRefused } from './action-refused.ts';
import { compileTemplate, shown, type Template } from './template.ts';

/** The fault of a value that a field does not accept; it holds no value. */
export type Check = (text: string) => { readonly text: string } | { readonly fault: string };

const NAME_FAULT = 'expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit';

export const name: Check = (text) => (NAME.test(text) ? { text } : { fault: NAME_FAULT });

export const timeout: Check = (text) => {
  const read = readJobTimeout(text);
  return 'fault' in read ? read : { text };
};

/** A compiled field: its value, or null without one. */
export type Field = (facts: EventFacts) => { readonly text: string } | { readonly error: string };

/** The value of a field for one event. Throws Unfilled. */
export type Fill = (field: Field) => string;

/** Ends a fill from within: what it carries is the error. */
export class Unfilled extends Error {}

export function optional(
  named: string,
  source: string | null,
  check: Check,
  fixed: Check = check,
): Promise<Field> | null {
  return source === null ? null : field(named, source, check, fixed);
}

/** A field of the action: fixed text is checked now, the value of an expression when it is evaluated. */
export async function field(named: string, source: string, check: Check, fixed: Check = check): Promise<Field> {
  return fieldOf(named, await refusing(named, null, () => compileTemplate(source)), check, fixed);
}

function fieldOf(named: string, template: Template, check: Check, fixed: Check): Field {
  if (template.fixed !== null) {
    const checked = fixed(template.fixed);
    if ('fault' in checked) throw new ActionRefused(named, checked.fault);
    return () => checked;
  }
  const { parts } = template;
  const expressions = parts.filter((part) => 'isPath' in part);
  if (expressions.some(({ isPath }) => isPath))
    throw new ActionRefused(named, '${path(…)} is accepted only in a word of a command');
  return (facts) => {
    let text = '';
    for (const part of parts) {
      const filled = 'literal' in part ? { text: part.literal } : part.fill(facts);
      if ('error' in filled) return { error: `${named}: ${filled.error}` };
      text += filled.text;
    }
    const checked = check(text);
    if ('text' in checked) return checked;
    return { error: `${named}: ${shown(expressions, text, facts)}; ${checked.fault}` };
  };
}

/** Reports the fault of an expression as a fault of its field and word. */
export async function refusing<T>(named: string, wordIndex: number | null, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof CelRefused) throw new ActionRefused(named, thrown.message, wordIndex);
    throw thrown;
  }
}
