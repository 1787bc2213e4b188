import type { PlaybookResults } from './results.ts';

/**
 * What is said of a host where the sandbox, or a firewall of this machine, refuses the connection: by OpenSSH, or by
 * Ansible where OpenSSH ended before Ansible had sent it the module, because Ansible then drops the reason of OpenSSH.
 */
const REFUSED = / port \d{1,5}: Permission denied|\[Errno 32\] Broken pipe/;

interface Ports {
  /** Where each addressed host has SSH, by its name. */
  readonly sshPorts: ReadonlyMap<string, number>;
  /** To which the job may connect. */
  readonly open: readonly number[];
}

/** The ports of hosts that the job was not allowed to connect to, each once. A host that is off has no such port. */
export function closedPorts({ hosts }: Pick<PlaybookResults, 'hosts'>, { sshPorts, open }: Ports): number[] {
  const closed = new Set<number>();
  for (const { host, unreachable, failure } of hosts) {
    const port = sshPorts.get(host);
    if (port === undefined || unreachable === 0 || open.includes(port)) continue;
    if (REFUSED.test(failure?.message ?? '')) closed.add(port);
  }
  return [...closed];
}
