import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { errorCode } from '../lib/error-code.ts';

/** All addresses of a name, IPv4 and IPv6. Rejects for a name without one, and may reject when `signal` aborts. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const HOSTS_FILE = '/etc/hosts';

interface NamedSources {
  /** Queries the name servers. */
  readonly ask: Resolve;
  /** The text of the hosts file. */
  readonly readHosts?: () => Promise<string>;
  /** The system resolver. */
  readonly lookUp?: (name: string) => Promise<readonly string[]>;
}

const readHostsFile = (): Promise<string> => readFile(HOSTS_FILE, 'utf8').catch(() => '');
const lookUpAll = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Resolves names as the machine does: hosts file, name servers, then for unknown names the system resolver, which knows
 * search lists. It is not asked when the name servers are silent: it would wait for the same servers for up to half a
 * minute, in one of the four threads that also read files and hash passwords, and cannot be cancelled.
 */
export function namedResolver({ ask, readHosts = readHostsFile, lookUp = lookUpAll }: NamedSources): Resolve {
  return async (name, signal) => {
    const listed = addressesIn(await readHosts(), name);
    if (listed.length > 0) return listed;
    if (/(?:^|\.)localhost$/i.test(name)) return ['127.0.0.1', '::1'];
    try {
      return await ask(name, signal);
    } catch (error) {
      if (signal.aborted || errorCode(error) === 'ETIMEOUT') throw error;
      return lookUp(name);
    }
  };
}

/** A line of a hosts file: an address, then its names in any case; a # begins a comment. */
function addressesIn(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase();
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().toLowerCase().split(/\s+/);
    return names.includes(wanted) ? [address] : [];
  });
}
