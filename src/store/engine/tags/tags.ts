/**
 * Tags over the rows from which a daemon takes an order or a path: HMAC over what makes the order, by a key that is not
 * in the database. An attacker who can write only the database can neither create such a row nor change one.
 */
import { timingSafeEqual } from 'node:crypto';
import { Failure } from '../../../domain/failure.ts';
import type { Keyring } from '../../../lib/seal.ts';
import type { Db } from '../../schema/schema.ts';
import type { Adoption } from './adoption.ts';
import { type Covered, earlierTextOf, hadTag, nameOf, type OrderTag, type TaggedTable, textOf } from './forms.ts';

const SHORT_HEX_DIGITS = 32;

/** Where a tag is checked: a write, or a store. */
export interface TagContext {
  /** Whether a row without a tag may be one of an earlier build. */
  readonly adoption: Adoption;
  /** The keys of this store; read again where they lack the one with this id, which may be a moment old. */
  ringWith(keyId: string | null): Keyring | Promise<Keyring>;
}

/** Where tagged rows are read and checked: a write, or a store. */
export interface TagReader extends TagContext {
  readonly db: Db;
}

/** The tag of a row that is written now. */
export function tagOf<T extends TaggedTable>(ring: Keyring, table: T, row: Covered<T>): OrderTag {
  const whole = ring.mac('order', textOf(table, row));
  // A daemon of an earlier build, which may run beside this one, compares the whole of those that it knows.
  return { order_tag: hadTag(table, row) ? whole : shortened(whole), order_key_id: ring.activeId };
}

/**
 * What a change of a row sets, with its tag: a row whose tag was not valid before stays so, or somebody who changes one
 * of its columns would vouch for the others.
 */
export function retagged<T extends TaggedTable, C extends object>(
  ring: Keyring,
  table: T,
  before: Covered<T> & OrderTag,
  changes: C,
): C & Partial<OrderTag> {
  return isTagged(ring, table, before) ? { ...changes, ...tagOf(ring, table, { ...before, ...changes }) } : changes;
}

declare const CHECKED: unique symbol;

/** A row whose order, path or credential may be used: only `checkTag` and `ifTagged` make one. */
export type Checked<R> = R & { readonly [CHECKED]: true };

/** The row again. Throws forbidden, with a message for people, for one whose order or path must not be used. */
export async function checkTag<T extends TaggedTable, R extends Covered<T> & OrderTag>(
  on: TagContext,
  table: T,
  row: R,
): Promise<Checked<R>> {
  const fault = faultOf(await on.ringWith(row.order_key_id), table, row);
  if (fault === null || (await isOfEarlierBuild(on.adoption, table, row))) return row as Checked<R>;
  throw new Failure('forbidden', `Integrity: ${nameOf(table, row)} ${fault}. Nothing was run.`);
}

/** Whether `checkTag` would pass. */
export async function passesTag<T extends TaggedTable>(
  on: TagContext,
  table: T,
  row: Covered<T> & OrderTag,
): Promise<boolean> {
  return isTagged(await on.ringWith(row.order_key_id), table, row) || (await isOfEarlierBuild(on.adoption, table, row));
}

/** The row if `checkTag` would pass it. A credential that somebody else wrote is answered as an unknown one. */
export async function ifTagged<T extends TaggedTable, R extends Covered<T> & OrderTag>(
  on: TagContext,
  table: T,
  row: R | undefined,
): Promise<Checked<R> | undefined> {
  return row !== undefined && (await passesTag(on, table, row)) ? (row as Checked<R>) : undefined;
}

/** Those of the rows that `checkTag` would pass, in their order. */
export async function tagged<T extends TaggedTable, R extends Covered<T> & OrderTag>(
  on: TagContext,
  table: T,
  rows: readonly R[],
): Promise<Checked<R>[]> {
  const checked = await Promise.all(rows.map((row) => ifTagged(on, table, row)));
  return checked.filter((row) => row !== undefined);
}

/** Whether the row has a valid tag. */
export function isTagged(ring: Keyring, table: TaggedTable, row: object & OrderTag): boolean {
  return faultOf(ring, table, row) === null;
}

/** Whether the row has the tag that an earlier build gave it, over fewer columns. */
export function hasEarlierTag(ring: Keyring, table: TaggedTable, row: object & OrderTag): boolean {
  const text = earlierTextOf(table, row);
  return text !== null && mismatch(ring, row, text) === null;
}

/** Until the orders of earlier builds have their tags, those that had none there count as they did there. */
async function isOfEarlierBuild(adoption: Adoption, table: TaggedTable, row: object & OrderTag): Promise<boolean> {
  return row.order_tag === null && !hadTag(table, row) && !(await adoption.isOver());
}

function faultOf(ring: Keyring, table: TaggedTable, row: object & OrderTag): string | null {
  return mismatch(ring, row, textOf(table, row));
}

/** What follows the name of the row in a message; null for a valid tag. */
function mismatch(ring: Keyring, { order_tag: tag, order_key_id: keyId }: OrderTag, text: string): string | null {
  if (tag === null || keyId === null) return 'has no tag, so that it was not written by this service';
  const expected = ring.macBy(keyId, 'order', text);
  if (expected === null) return `is tagged with key ${keyId}, which is not in the seal key file`;
  const isSame = isEqual(tag, expected) || isEqual(tag, shortened(expected));
  return isSame ? null : 'was changed after it was written';
}

/** 128 bits, which no one forges, in 22 characters: each job has a tag, and the size of its row is most of its cost. */
function shortened(hex: string): string {
  return Buffer.from(hex.slice(0, SHORT_HEX_DIGITS), 'hex').toString('base64url');
}

function isEqual(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
