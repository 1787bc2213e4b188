import type { PlaybookResults } from './results.ts';

/** What OpenSSH says where the sandbox, or a firewall of this machine, refuses the connection. */
const DENIED = / port (\d{1,5}): Permission denied/;

/** What Ansible says where OpenSSH ended before it had got the module. It drops what OpenSSH said then. */
const UNSENT = /\[Errno 32\]/;

interface Ports {
  /** Where each addressed host has SSH, by its name. */
  readonly sshPorts: ReadonlyMap<string, number>;
  /** To which the job may connect. */
  readonly open: readonly number[];
}

/**
 * The ports of hosts that could not be reached because the job may not connect to them, each once. Of a host that is
 * off Ansible mostly has the reason, and it has no such port then.
 */
export function closedPorts({ hosts }: Pick<PlaybookResults, 'hosts'>, { sshPorts, open }: Ports): number[] {
  const closed = new Set<number>();
  for (const { host, unreachable, failure } of hosts) {
    const port = sshPorts.get(host);
    if (port === undefined || unreachable === 0 || open.includes(port)) continue;
    const message = failure?.message ?? '';
    // A play can give a host another port than its inventory.
    const denied = DENIED.exec(message)?.[1];
    if (denied === undefined ? UNSENT.test(message) : Number(denied) === port) closed.add(port);
  }
  return [...closed];
}
