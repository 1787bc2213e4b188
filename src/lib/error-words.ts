import { getSystemErrorMap } from 'node:util';

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
  '57P03': 'the server starts or stops',
};

/** The code of a system error, or of PostgreSQL, in words, without any value: `connection refused (ECONNREFUSED)`. */
export function wordsOfCode(code: string): string {
  const words = WORDS[code] ?? [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1];
  return words === undefined ? `error ${code}` : `${words} (${code})`;
}
