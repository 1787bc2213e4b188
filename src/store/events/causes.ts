import type { Subject } from '../../domain/events/causes.ts';
import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { CauseRow } from '../schema/schema.ts';

/** Who changed what an event depends on. Only names of owners are kept, one row for each subject and owner. */

const lastOf = prepared<{ subject: string }, { position: number | null }>((db, value) =>
  db
    .selectFrom('causes')
    .select((eb) => eb.fn.max('position').as('position'))
    .where('subject', '=', value('subject')),
);

/** Notes that `owner` has changed the subject: they are in the chain of its next event, and stay while the last. */
export async function leaveCause(tx: Tx, subject: Subject, owner: string): Promise<void> {
  await leaveCauses(tx, subject, [owner]);
}

/** The same of owners who are behind one change: they stay together while it is the last. */
export async function leaveCauses(tx: Tx, subject: Subject, owners: readonly string[]): Promise<void> {
  if (owners.length === 0) return;
  const position = ((await lastOf(tx.db, { subject })).rows[0]?.position ?? 0) + 1;
  // In one order, so that two writes do not wait for each other.
  const names = [...new Set(owners)].toSorted();
  await tx.db
    .insertInto('causes')
    .values(names.map((owner) => ({ subject, owner, position, seen: 0 as const })))
    .onConflict((conflict) =>
      conflict
        .columns(['subject', 'owner'])
        .doUpdateSet((eb) => ({ position: eb.ref('excluded.position'), seen: eb.ref('excluded.seen') })),
    )
    .execute();
}

const rowsOf = prepared<{ subject: string }, CauseRow>((db, value) =>
  db.selectFrom('causes').selectAll().where('subject', '=', value('subject')).orderBy('position', 'desc'),
);

/** What each write has read: the events that one message brings count as one. */
const READ = new WeakMap<Tx, Map<Subject, readonly string[]>>();

/**
 * The owners who caused an event that depends on these subjects, in the transaction that records it. The one who
 * changed a subject last stays; those before leave with the first event that no change preceded.
 */
export async function causersOf(tx: Tx, subjects: readonly Subject[]): Promise<readonly string[]> {
  const owners = new Set<string>();
  for (const subject of subjects) for (const owner of await readOnce(tx, subject)) owners.add(owner);
  return [...owners];
}

async function readOnce(tx: Tx, subject: Subject): Promise<readonly string[]> {
  const read = READ.get(tx) ?? new Map<Subject, readonly string[]>();
  READ.set(tx, read);
  const known = read.get(subject) ?? (await readAndMark(tx, subject));
  read.set(subject, known);
  return known;
}

async function readAndMark(tx: Tx, subject: Subject): Promise<readonly string[]> {
  const { rows } = await rowsOf(tx.db, { subject });
  const [last] = rows;
  if (last === undefined) return [];
  if (rows.some(({ seen }) => seen === 0)) {
    await tx.db.updateTable('causes').set({ seen: 1 }).where('subject', '=', subject).execute();
    return rows.map(({ owner }) => owner);
  }
  const isLast = ({ position }: CauseRow): boolean => position === last.position;
  if (!rows.every(isLast))
    await tx.db.deleteFrom('causes').where('subject', '=', subject).where('position', '<', last.position).execute();
  return rows.filter(isLast).map(({ owner }) => owner);
}

/** Those who caused something about `from` have caused it about `to` too: a run was cancelled, and so its jobs. */
export async function handCauses(tx: Tx, from: readonly Subject[], to: Subject): Promise<void> {
  await leaveCauses(tx, to, await notedCauses(tx, from));
}

/** Who is noted now; no event has read it by that, so that no one leaves earlier. */
export async function notedCauses(tx: Tx, subjects: readonly Subject[]): Promise<readonly string[]> {
  const owners = new Set<string>();
  for (const subject of subjects) for (const { owner } of (await rowsOf(tx.db, { subject })).rows) owners.add(owner);
  return [...owners];
}
