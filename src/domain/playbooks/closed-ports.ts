import type { PlaybookResults } from './results.ts';

/** What OpenSSH says where the sandbox, or a firewall of this machine, refuses the connection. */
const DENIED = / port (\d{1,5}): Permission denied/;

/**
 * The ports of hosts that could not be reached because the job may not connect to them (`open` are those to which it
 * may), each once: a play can give a host another port than its inventory. Where Ansible has dropped what OpenSSH said,
 * the port is not known.
 */
export function closedPorts({ hosts }: Pick<PlaybookResults, 'hosts'>, open: readonly number[]): number[] {
  const closed = new Set<number>();
  for (const { unreachable, failure } of hosts) {
    const port = Number(unreachable === 0 ? undefined : DENIED.exec(failure?.message ?? '')?.[1]);
    if (port > 0 && !open.includes(port)) closed.add(port);
  }
  return [...closed];
}
