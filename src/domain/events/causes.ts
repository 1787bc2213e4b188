/**
 * Who changes what a later event says causes it: a change of a check can make it go down. Such owners join the asking
 * chain of what the event starts, so that no person approves what they have caused (T84).
 */

/** What an event can depend on, besides what names its owners itself. */
export const CAUSE_KINDS = [
  'check',
  'inventory',
  'job',
  'mute',
  'netgroup',
  'node',
  'run',
  'silence',
  'source',
  'webhook',
  'workspace',
] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

/** What later events depend on that an operation changes: its caller is in the chain of what they start (T84). */
export type Causes =
  /** The thing that the row of the ledger names; `by` says what notes the caller, where that is not the shared path. */
  | { readonly of: CauseKind; readonly by?: string }
  /** A sentence: why no event depends on it, or what else has the caller in the chain. */
  | { readonly none: string };

/** One thing of such a kind: `check:db`. */
export type Subject = `${CauseKind}:${string}`;

export function subjectOf(kind: CauseKind, name: string): Subject {
  return `${kind}:${name}`;
}

/** What the end of a job depends on; `inventory` is the stored one that it names. */
export function jobDependencies(
  { id, workspace, source }: Readonly<Record<'workspace' | 'source', string | null>> & { readonly id: string },
  inventory: string | null,
): Subject[] {
  return [
    subjectOf('job', id),
    ...(workspace === null ? [] : [subjectOf('workspace', workspace)]),
    ...(source === null ? [] : [subjectOf('source', source)]),
    ...(inventory === null ? [] : [subjectOf('inventory', inventory)]),
  ];
}
