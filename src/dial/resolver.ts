import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { errorCode } from '../lib/error-code.ts';

/** Every address of a name, of both families. Rejects where there is none, and may do so when `signal` aborts. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const HOSTS_FILE = '/etc/hosts';

interface NamedSources {
  /** Asks the name servers. */
  readonly ask: Resolve;
  /** The text of the machine's file of hosts. */
  readonly readHosts?: () => Promise<string>;
  /** Whatever else the machine resolves names with. */
  readonly lookUp?: (name: string) => Promise<readonly string[]>;
}

const readHostsFile = (): Promise<string> => readFile(HOSTS_FILE, 'utf8').catch(() => '');
const lookUpAll = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Resolves names as the machine does: its file of hosts, the name servers, and for what these do not know the rest,
 * such as search lists. Where the name servers are silent that rest is not asked: it would wait for the same servers in
 * one of the four threads in which files are read and passwords hashed, for up to half a minute, and nothing ends that.
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

/** Of a file of hosts: an address, then the names that it has, of any case; what follows a # is a remark. */
function addressesIn(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase();
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().toLowerCase().split(/\s+/);
    return names.includes(wanted) ? [address] : [];
  });
}
