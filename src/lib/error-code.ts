import { getSystemErrorMap } from 'node:util';

/** The code of a system's or a driver's error, such as `ENOENT`, `28P01` or `ERR_SQLITE_ERROR`; null without one. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/**
 * What the system has no words for: name resolution, and what PostgreSQL refuses a connection with. The texts of
 * PostgreSQL repeat names, and may repeat more.
 */
const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name of the server cannot be resolved',
  EAI_AGAIN: 'the name of the server cannot be resolved now',
  '28000': 'the server does not accept this user from here',
  '28P01': 'wrong user or password',
  '3D000': 'the database does not exist',
  '42501': 'this user lacks a right',
  '53300': 'too many connections',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is signed by no known authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the server is signed by no known authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the server is signed by no known authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the server is signed by no known authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another name',
  '57P03': 'the server starts or stops',
};

/** The code of a system error, or of PostgreSQL, in words, without any value: `connection refused (ECONNREFUSED)`. */
export function wordsOfCode(code: string): string {
  const words = WORDS[code] ?? [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1];
  return words === undefined ? `error ${code}` : `${words} (${code})`;
}
