/** How a saved plan is put into words, for the person who decides about it. */

/** Replaces a value that is known only after the apply. */
export const SERVER_SET = '[redacted · server-set]';

type Entries = Readonly<Record<'destroys' | 'changes' | 'creates', readonly { readonly action: string }[]>>;

const NO_CHANGES = 'no changes';

/** Such as "3 to destroy, 0 to replace, 2 to change, 5 to create" or "no changes": each resource once. */
export function countsOf({ destroys, changes, creates }: Entries): string {
  if (destroys.length + changes.length + creates.length === 0) return NO_CHANGES;
  const replaced = destroys.filter(({ action }) => action === 'replace').length;
  const words = [
    `${destroys.length - replaced} to destroy`,
    `${replaced} to replace`,
    `${changes.length} to change`,
    `${creates.length} to create`,
  ];
  return words.join(', ');
}

/** What happens to resources of a summary, such as "3 to destroy, 5 to create": without what is zero, and the notes. */
export function shortCounts(summary: string): string {
  const [counts = ''] = summary.split(';');
  const shown = counts.split(', ').filter((text) => !text.startsWith('0 '));
  return shown.join(', ');
}

/** A summary of a build that did not count replacements on their own; null for one that did. */
export function recounted(summary: string, entries: Entries): string | null {
  if (summary.startsWith(NO_CHANGES) || summary.includes(' to replace, ')) return null;
  const [, notes] = /;(.*?)\.?$/.exec(summary) ?? [];
  return `${countsOf(entries)}${notes === undefined ? '' : `;${notes}`}`;
}
