import { errorCode } from '../lib/error-code.ts';

/** All addresses of a name, IPv4 and IPv6. Rejects for a name without one, and may reject when `signal` aborts. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** The codes of an answer that there is no such name, or no address of it. */
const UNKNOWN = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** Whether a name server answered, and knows no address of the name. */
export function saysUnknown(error: unknown): boolean {
  return UNKNOWN.includes(errorCode(error) ?? '');
}
