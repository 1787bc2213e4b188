/**
 * A sealed file: a long content, compressed and sealed in pieces, so that neither its writer nor its reader holds it in
 * memory. Its parts, in this order:
 *
 * - one line of text: `gatehouse-sealed-1 <id>`
 * - frames: 4 bytes length, big-endian, then a piece that the keyring sealed. The label of a piece has the id of the
 *   file, the number of the piece and its kind: `head` (JSON, the first), `data`, `tail` (JSON, the last). So no piece
 *   can be changed, left out, repeated, moved or taken from another file.
 * - 4 bytes 0, then the SHA-256 of all bytes before it. It finds damage without a key.
 */

export type PieceKind = 'head' | 'data' | 'tail';

/** Beside each piece only one more is in memory, and sealing one takes some 1 ms of the event loop. */
export const PIECE_BYTES = 1024 * 1024;
export const LENGTH_BYTES = 4;
export const DIGEST_BYTES = 32;
/** The id of a file; at most this many characters. */
const ID = /^[a-z0-9_]{1,64}$/;
const FIRST_LINE = /^gatehouse-sealed-1 ([a-z0-9_]{1,64})\n/;
/** The first line of any later version too. */
const ANY_VERSION = /^gatehouse-sealed-(\d{1,4}) /;
/** The first line of a file fits in this. */
export const FIRST_LINE_BYTES_MAX = 128;

export function firstLineOf(id: string): string {
  if (!ID.test(id)) throw new Error('a sealed file needs an id of a-z 0-9 _');
  return `gatehouse-sealed-1 ${id}\n`;
}

/** The id in the first line; `newer` for a version that this build does not know, null for other files. */
export function readFirstLine(start: string): { readonly id: string } | 'newer' | null {
  const id = FIRST_LINE.exec(start)?.[1];
  if (id !== undefined) return { id };
  const version = ANY_VERSION.exec(start)?.[1];
  return version === undefined || version === '1' ? null : 'newer';
}

export function pieceLabel(id: string, sequence: number, kind: PieceKind): readonly string[] {
  return ['sealed-file', id, String(sequence), kind];
}

/** The tail of a file. */
export interface Tail {
  /** Of the content before it was compressed. */
  readonly contentBytes: number;
}

type SealedFileFault = 'not one' | 'newer' | 'damaged' | 'altered' | 'unknown key';

const REASONS: Readonly<Record<SealedFileFault, string>> = {
  'not one': 'is not a file that this service has sealed',
  newer: 'was written by a newer build, in a form that this build does not know',
  damaged: 'is damaged or incomplete: its content does not match its digest',
  altered: 'was altered: its digest matches, but a piece of it is not what was sealed',
  'unknown key': 'was sealed with another key',
};

/** The file cannot be opened, see `fault`. `keyId` is that of the key that sealed it, for an unknown key. */
export class SealedFileBroken extends Error {
  readonly fault: SealedFileFault;
  readonly keyId: string | null;

  constructor(fault: SealedFileFault, keyId: string | null = null) {
    super(`it ${REASONS[fault]}`);
    this.name = 'SealedFileBroken';
    this.fault = fault;
    this.keyId = keyId;
  }
}
