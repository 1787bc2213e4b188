/** What a file changes, as who decides about it sees it, and what must not change until then. */
import { hash } from 'node:crypto';
import type { Entry, OrderedChange } from '../../domain/configuration/change.ts';
import { textOf } from './change-view.ts';
import type { Change, Plan } from './plan.ts';

/** A longer text is cut, and says so. */
const VALUE_CHARACTERS_MAX = 4_000;

/** Words of an action that its author hides, as in the view `order`. */
const HIDDEN_WORDS = ['command', 'extra_vars'];
const HIDDEN = '[hidden · reveal: false]';

/** Credentials are `[kept]`. */
export function orderedChanges(changes: readonly Change[]): OrderedChange[] {
  return changes.map(({ change, section, name, fields }) => ({
    change,
    kind: section.word,
    name,
    fields: fields.map(({ field, from, to }) => ({ field, from: shown(from), to: shown(to) })),
  }));
}

function shown(value: unknown): string | null {
  const text = textOf(withoutHidden(value));
  if (text === null || text.length <= VALUE_CHARACTERS_MAX) return text;
  return `${text.slice(0, VALUE_CHARACTERS_MAX)}… (${text.length - VALUE_CHARACTERS_MAX} more characters)`;
}

function withoutHidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHidden);
  if (typeof value !== 'object' || value === null) return value;
  const entry = value as Entry;
  const hides = entry['reveal'] === false;
  return Object.fromEntries(
    Object.entries(entry).map(([field, each]) => [
      field,
      hides && HIDDEN_WORDS.includes(field) ? HIDDEN : withoutHidden(each),
    ]),
  );
}

/** SHA-256, hex, of all that the plan changes: the same again means that nothing of it has moved. */
export function digestOfChanges({ set, changes, managed, taken }: Plan): string {
  const moved = changes.map(({ change, section, name, fields }) => [change, section.word, name, fields]);
  const owned = taken.map(({ section, name, from }) => [section.word, name, from]);
  return hash('sha256', JSON.stringify([set, moved, managed, owned]));
}
