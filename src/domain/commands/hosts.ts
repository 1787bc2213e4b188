/** What a command on the hosts of an inventory comes to. */

type HostStatus = 'ok' | 'failed' | 'unreachable';

/** The end of the command on one host. */
export interface HostResult {
  readonly host: string;
  readonly status: HostStatus;
  /** Of the command; null where it did not run to its end. */
  readonly rc: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Bytes of the results of one job; each host has the same share for each stream. */
const RESULTS_BYTES_MAX = 32 * 1024 * 1024;
const STREAM_BYTES_MAX = 1024 * 1024;
/** What ssh itself answers for a host that it cannot reach. */
const UNREACHABLE_EXIT_CODE = 255;

/** Bytes that are kept of each stream of each host. */
export function streamBytesMax(hosts: number): number {
  return Math.min(STREAM_BYTES_MAX, Math.floor(RESULTS_BYTES_MAX / (2 * Math.max(1, hosts))));
}

/** The highest exit code of all hosts; 255 where one was not reached. Null where none has an end. */
export function exitCodeOfHosts(results: readonly Pick<HostResult, 'status' | 'rc'>[]): number | null {
  const codes = results.flatMap(({ status, rc }) => (status === 'unreachable' ? UNREACHABLE_EXIT_CODE : (rc ?? [])));
  return codes.length === 0 ? null : codes.reduce((most, code) => Math.max(most, code), 0);
}

/** The word as one word of a POSIX shell, whatever it holds. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
