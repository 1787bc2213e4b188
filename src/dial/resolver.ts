import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { type Resolve, isUnknownName } from './resolve.ts';
import { candidates, readSearchList } from './search-list.ts';

const HOSTS_FILE = '/etc/hosts';
const RESOLVER_FILE = '/etc/resolv.conf';
/** Thousands of probes do not read the files of the machine thousands of times, in milliseconds. */
const FILE_CACHED_MS = 5_000;

interface NamedSources {
  /** Queries the name servers. */
  readonly ask: Resolve;
  /** The text of the hosts file. */
  readonly readHosts?: () => Promise<string>;
  /** The system resolver. */
  readonly lookUp?: (name: string) => Promise<readonly string[]>;
}

const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
const lookUpAll = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Resolves names as the machine does: hosts file, name servers, then for unknown names the system resolver, which knows
 * search lists. It is not asked when the name servers are silent: it would wait for the same servers for up to half a
 * minute, in one of the four threads that also read files and hash passwords, and cannot be cancelled.
 */
export function namedResolver({
  ask,
  readHosts = () => readText(HOSTS_FILE),
  lookUp = lookUpAll,
}: NamedSources): Resolve {
  return async (name, signal) => {
    const local = addressesIn(await readHosts(), name);
    if (local.length > 0) return local;
    try {
      return await ask(name, signal);
    } catch (error) {
      if (signal.aborted || errorCode(error) === 'ETIMEOUT') throw error;
      return lookUp(name);
    }
  };
}

interface ProbeSources {
  readonly ask: Resolve;
  readonly clock: Clock;
  readonly readHosts?: () => Promise<string>;
  /** The text of the resolver's configuration. */
  readonly readConfiguration?: () => Promise<string>;
}

/**
 * Resolves the names of many probes: hosts file, then the name servers with the search list. The system resolver is
 * never asked, for the reasons above: names that only it knows (mDNS, LDAP) are unknown.
 */
export function probeResolver({
  ask,
  clock,
  readHosts = cached(clock, HOSTS_FILE),
  readConfiguration = cached(clock, RESOLVER_FILE),
}: ProbeSources): Resolve {
  return async (name, signal) => {
    const local = addressesIn(await readHosts(), name.replace(/\.$/, ''));
    if (local.length > 0) return local;
    let failure: unknown;
    for (const candidate of candidates(name, readSearchList(await readConfiguration()))) {
      try {
        return await ask(candidate, signal);
      } catch (error) {
        failure = error;
        if (!isUnknownName(errorCode(error))) break;
      }
    }
    throw failure;
  };
}

function cached(clock: Clock, path: string): () => Promise<string> {
  let text: Promise<string> | null = null;
  let until = 0;
  return () => {
    if (text === null || clock.monotonic() >= until) {
      until = clock.monotonic() + FILE_CACHED_MS;
      text = readText(path);
    }
    return text;
  };
}

/** A line of a hosts file: an address, then its names in any case; a # begins a comment. */
function addressesIn(hosts: string, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const listed = hosts.split('\n').flatMap((line) => {
    const [content = ''] = line.split('#', 1);
    const [address = '', ...names] = content.trim().toLowerCase().split(/\s+/);
    return names.includes(wanted) ? [address] : [];
  });
  return listed.length === 0 && /(?:^|\.)localhost$/.test(wanted) ? ['127.0.0.1', '::1'] : listed;
}
