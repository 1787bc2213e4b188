/** All addresses of a name, IPv4 and IPv6. Rejects for a name without one, and may reject when `signal` aborts. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const UNKNOWN = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** Whether this is the code of an answer that there is no such name, or no address of it. */
export function isUnknownName(code: string | null): boolean {
  return code !== null && UNKNOWN.includes(code);
}
