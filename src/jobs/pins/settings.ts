import { hash } from 'node:crypto';
import { readPinned } from '../../domain/approvals/pinned.ts';
import { Failure } from '../../domain/failure.ts';
import { findInventoryRow } from '../../store/inventories/inventories.ts';
import { ifTagged, type TagReader } from '../../store/engine/tags/tags.ts';
import { findSource } from '../../store/sources/sources.ts';
import type { InventoryRow, JobRow, SourceRow, WorkspaceRow } from '../../store/schema/schema.ts';
import { findWorkspace } from '../../store/workspaces/workspaces.ts';

interface PinnedRows {
  readonly source: SourceRow;
  readonly workspace: WorkspaceRow;
  readonly inventory: InventoryRow;
}

export type PinnedKind = keyof PinnedRows;

/** Rows of one table that a request names, and whose change makes it another request. */
interface PinnedRow<R> {
  /** SHA-256, hex, of what decides what a run does. Not of the commit of a source, which is kept itself. */
  digest(row: R): string;
  /** That of the row of this name; empty without one that this service wrote. */
  pin(on: TagReader, name: string): Promise<string>;
}

function pinnedRow<R>(
  find: (on: TagReader, name: string) => Promise<R | undefined>,
  settings: (row: R) => readonly unknown[],
): PinnedRow<R> {
  const digest = (row: R): string => hash('sha256', JSON.stringify(settings(row)));
  return {
    digest,
    async pin(on, name) {
      const row = await find(on, name);
      return row === undefined ? '' : digest(row);
    },
  };
}

export const PINNED_ROWS: { readonly [K in keyof PinnedRows]: PinnedRow<PinnedRows[K]> } = {
  source: pinnedRow<SourceRow>(
    async (on, name) => ifTagged(on, 'sources', await findSource(on.db, name)),
    ({ kind, location, plugins }) => [kind, location, plugins],
  ),
  workspace: pinnedRow<WorkspaceRow>(
    async (on, name) => ifTagged(on, 'workspaces', await findWorkspace(on.db, name)),
    ({ created_at: createdAt, source, path, inputs }) => [createdAt, source, path, inputs],
  ),
  inventory: pinnedRow<InventoryRow>(
    async (on, name) => ifTagged(on, 'inventories', await findInventoryRow(on.db, name)),
    ({ digest, ssh_key: key }) => [digest, key],
  ),
};

/** Throws conflict, with a message for the output of the job, for a row that is not as it was asked about. */
export function refuseChangedRow<K extends PinnedKind>(
  { pinned: column }: Pick<JobRow, 'pinned'>,
  kind: K,
  row: PinnedRows[K],
): void {
  const pinned = readPinned(column);
  const key = keyOf(kind, row.name);
  const of: PinnedRow<PinnedRows[K]> = PINNED_ROWS[kind];
  if (pinned === null || pinned.settings[key] === of.digest(row)) return;
  throw new Failure('conflict', `${changed(key)} Nothing was run.`);
}

/** Which row is not as it was when the job was asked for, as a sentence; null for none. */
export async function changeOfRows(on: TagReader, { pinned }: Pick<JobRow, 'pinned'>): Promise<string | null> {
  for (const [key, before] of Object.entries(readPinned(pinned)?.settings ?? {})) {
    const [kind = '', name = ''] = key.split(' ');
    if (!isPinnedKind(kind) || before === '' || (await PINNED_ROWS[kind].pin(on, name)) !== before) return changed(key);
  }
  return null;
}

export function keyOf(kind: PinnedKind, name: string): string {
  return `${kind} ${name}`;
}

function isPinnedKind(text: string): text is PinnedKind {
  return Object.hasOwn(PINNED_ROWS, text);
}

function changed(key: string): string {
  return `The ${key} is not as it was when this job was asked for.`;
}
