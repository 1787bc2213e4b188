/** What a file changes, as who decides about it sees it, and what must not change until then. */
import { hash } from 'node:crypto';
import type { Entry, OrderedChange } from '../../domain/configuration/change.ts';
import { textOf } from './change-view.ts';
import type { Change, Plan } from './plan.ts';

/** Words of an action that its author hides, as in the view `order`. */
const HIDDEN_WORDS = ['command', 'extra_vars'];
const HIDDEN = '[hidden · reveal: false]';

/** Without the words that an author on the machine hides. */
export function hideWords(change: Change): Change {
  const { from, to } = change;
  return {
    ...change,
    fields: change.fields.map((each) => ({
      field: each.field,
      from: shownOf(from, each.field, each.from),
      to: shownOf(to, each.field, each.to),
    })),
  };
}

/** An action is hidden by its `reveal`, so the field is looked at together with it. */
function shownOf(entry: Entry | null, field: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  return (withoutWords({ reveal: entry?.['reveal'], [field]: value }) as Entry)[field];
}

function withoutWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (typeof value !== 'object' || value === null) return value;
  const entry = value as Entry;
  const hides = (field: string): boolean => entry['reveal'] === false && HIDDEN_WORDS.includes(field);
  const shown = Object.entries(entry).map(([field, each]) => [field, hides(field) ? HIDDEN : withoutWords(each)]);
  return Object.fromEntries(shown);
}

/** Credentials are `[kept]`. An object that the set of the file takes over is a change of its set. */
export function orderedChanges({ changes, taken, managed, set }: Plan): OrderedChange[] {
  const changed = changes
    .map(hideWords)
    .map(({ change, section, name, fields }) => ({
      change,
      kind: section.word,
      name,
      fields: fields.map(({ field, from, to }) => ({ field, from: textOf(from), to: textOf(to) })),
    }));
  const known = new Set(changed.map(({ kind, name }) => `${kind} ${name}`));
  const owners = new Map(taken.map(({ section, name, from }) => [`${section.word} ${name}`, from]));
  const owned = managed
    .filter(({ kind, name }) => owners.has(`${kind} ${name}`) || !known.has(`${kind} ${name}`))
    .map(({ kind, name }) => ({
      change: 'change' as const,
      kind,
      name,
      fields: [{ field: 'set', from: owners.get(`${kind} ${name}`) ?? null, to: set }],
    }));
  return [...changed, ...owned];
}

/** SHA-256, hex, of all that the plan changes: the same again means that nothing of it has moved. */
export function digestOfChanges({ set, changes, managed, taken }: Plan): string {
  const moved = changes.map(({ change, section, name, fields }) => [change, section.word, name, fields]);
  const owned = taken.map(({ section, name, from }) => [section.word, name, from]);
  return hash('sha256', JSON.stringify([set, moved, managed, owned]));
}
