import { hash } from 'node:crypto';
import { type HeaderList, revalidated } from '../http/headers.ts';

/** An encoded answer and its headers. */
export interface KeptAnswer {
  readonly body: Buffer;
  readonly etag: string;
  readonly headers: HeaderList;
}

/** Approximate overhead of an entry besides its bytes. */
const ENTRY_BYTES = 1_024;
/** The entity tag is the hash of the bytes: the same state gives the same tag in every process. */
export function answerOf(encoded: string | Buffer): KeptAnswer {
  const body = typeof encoded === 'string' ? Buffer.from(encoded) : encoded;
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
  return { body, etag, headers: revalidated(etag) };
}

/** What an answer takes in memory, in bytes. */
export function sizeOf(key: string, answer: KeptAnswer): number {
  return answer.body.length + key.length * 2 + ENTRY_BYTES;
}

/** Whether an If-None-Match names the tag, by the weak comparison of RFC 9110. */
export function isNamed(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}
