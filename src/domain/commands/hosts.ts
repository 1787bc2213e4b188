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
/** Of one stream on one host; the events of the job have the rest. */
export const STREAM_BYTES_MAX = 1024 * 1024;
export const CUT_MARK = '[The result is cut here; the events of the job have the rest.]\n';
/** What ssh itself answers where it fails, as for a host that it cannot reach. */
export const SSH_FAILED = 255;

/** Bytes that are kept of each stream of each host. */
export function streamBytesMax(hosts: number): number {
  return Math.min(STREAM_BYTES_MAX, Math.floor(RESULTS_BYTES_MAX / (2 * Math.max(1, hosts))));
}

/** The highest exit code of all hosts; 255 where one was not reached. Null where none has an end. */
export function exitCodeOfHosts(results: readonly Pick<HostResult, 'status' | 'rc'>[]): number | null {
  const codes = results.flatMap(({ status, rc }) => (status === 'unreachable' ? SSH_FAILED : (rc ?? [])));
  return codes.length === 0 ? null : codes.reduce((most, code) => Math.max(most, code), 0);
}
