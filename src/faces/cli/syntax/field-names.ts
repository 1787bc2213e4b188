import type { Fields } from './arguments.ts';
import { kebab, type Verb } from './tree.ts';

/**
 * A message of an operation in the words of its command line. An operation names the field that is wrong at the
 * beginning of a sentence (`expires_at: …`, `for, expires_at: …`, `run_secrets.db: …`); here that is the flag or
 * the argument that carries it (`--expires-at: …`, `--run-secret db: …`).
 */
export function inWordsOf(verb: Verb, message: string): string {
  const labels = labelsOf(verb);
  if (labels.size === 0) return message;
  // The longer ones first, else `plan` would hide `plan_id`.
  const field = `(?:${[...labels.keys()].toSorted((a, b) => b.length - a.length).join('|')})(?:\\.[^\\s,:]+)?`;
  const named = new RegExp(`(?<=^|\\. )${field}(?:, ${field})*(?=: )`, 'g');
  return message.replaceAll(named, (fields) =>
    fields
      .split(', ')
      .map((each) => labelled(labels, each))
      .join(', '),
  );
}

/** By the field, what carries it: the same for every verb, so that a new row of the table needs no line here. */
function labelsOf({ flags, positionals, call }: Verb): ReadonlyMap<string, string> {
  const input = 'operation' in call ? call.stdin : undefined;
  return new Map([
    ...(input === undefined ? [] : [[input.field, '--file or standard input'] as const]),
    ...flags.flatMap(({ field, name }) => (field === undefined ? [] : [[field, `--${name}`] as const])),
    ...positionals.map(({ field }) => [field, kebab(field).toUpperCase()] as const),
  ]);
}

/** Of a list, the number of the element says nothing: each has its own flag. Of pairs, the name says which. */
function labelled(labels: ReadonlyMap<string, string>, path: string): string {
  const at = path.indexOf('.');
  const [field, rest] = at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
  const label = labels.get(field) ?? field;
  return rest === '' || /^\d+$/.test(rest) ? label : `${label} ${rest}`;
}

/** A text of a row with the values of fields in the place of `{field}`; a list has `or` between its values. */
export function filled(text: string, fields: Fields): string {
  return text.replaceAll(/\{([a-z_]+)\}/g, (_, field: string) => {
    const value = fields[field];
    return Array.isArray(value) ? value.join(' or ') : String(value);
  });
}
