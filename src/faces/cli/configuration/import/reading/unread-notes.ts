import type { Unread } from './fields.ts';

/** Objects that a line names; it counts the others. */
const NAMES_SHOWN = 3;
/** Fields that a line names; a further line has the next ones. */
const FIELDS_A_LINE = 40;
const FIELD_CHARACTERS_MAX = 80;

/** One line for the unread fields that the same objects have: `web, api and 2 more: fields left out: id, tags.` */
export function unreadNotes(unread: Iterable<Unread>): string[] {
  const owners = new Map<string, Set<string>>();
  for (const { names, field } of unread) {
    const known = owners.get(field) ?? new Set();
    owners.set(field, known);
    for (const name of names) known.add(name);
  }
  const fieldsBy = new Map<string, string[]>();
  for (const [field, names] of owners) {
    const key = JSON.stringify([...names]);
    const fields = fieldsBy.get(key) ?? [];
    fieldsBy.set(key, fields);
    fields.push(field.slice(0, FIELD_CHARACTERS_MAX));
  }
  return [...fieldsBy].flatMap(([key, fields]) => linesOf(JSON.parse(key) as string[], fields.toSorted()));
}

function linesOf(names: readonly string[], fields: readonly string[]): string[] {
  const others = names.length - NAMES_SHOWN;
  const shown = names.slice(0, NAMES_SHOWN).join(', ') + (others > 0 ? ` and ${others} more` : '');
  const lines = Array.from({ length: Math.ceil(fields.length / FIELDS_A_LINE) }, (_, n) =>
    fields.slice(n * FIELDS_A_LINE, (n + 1) * FIELDS_A_LINE),
  );
  return lines.map((some) => `${shown}: ${some.length === 1 ? 'field' : 'fields'} left out: ${some.join(', ')}.`);
}
