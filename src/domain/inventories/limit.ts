import { Failure } from '../failure.ts';
import { ALL, type Inventory, LOCALHOST } from './inventory.ts';
import { quoted } from './refused.ts';

/** What means more than a name in a limit of Ansible. */
const PATTERN = /[*?~&@[\]/\\]/;

/**
 * The hosts that a limit leaves of the inventory, in the order of the inventory: names of hosts and groups with `,`
 * between them, and `!` before one to leave it out; null is all of them. Throws invalid_argument, which names `field`,
 * for a limit that names something else, or that selects no host.
 */
export function limitHosts(
  name: string,
  inventory: Inventory,
  limit: string | null,
  field = 'limit',
): readonly string[] {
  if (limit === null) return [...inventory.hosts.keys()];
  const terms = limit.split(',').map((term) => term.trim());
  const kept = new Set<string>();
  const left = new Set<string>();
  let isAll = true;
  for (const term of terms) {
    const leaves = term.startsWith('!');
    if (!leaves) isAll = false;
    const named = hostsOf({ name, inventory, field }, leaves ? term.slice(1).trim() : term);
    for (const host of named) (leaves ? left : kept).add(host);
  }
  const hosts = [...inventory.hosts.keys()].filter((host) => (isAll || kept.has(host)) && !left.has(host));
  if (hosts.length === 0)
    throw new Failure(
      'invalid_argument',
      `${field}: ${JSON.stringify(limit)} selects no host of inventory ${quoted(name)}.`,
    );
  return hosts;
}

/** Throws invalid_argument where `limit` is not the name of one host: a value of an event is not to name a group. */
export function requireHost(name: string, inventory: Inventory, limit: string): void {
  if (!inventory.hosts.has(limit)) throw unknown({ name, field: 'limit' }, limit, 'expected one of its hosts');
}

/** The hosts of the group and of the groups in it. */
function groupHosts({ groups }: Inventory, group: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  const seen = new Set([group]);
  for (const each of seen) {
    const { hosts: own = [], children = [] } = groups.get(each) ?? {};
    for (const host of own) hosts.add(host);
    for (const child of children) seen.add(child);
  }
  return hosts;
}

/** The inventory that a limit is for, and the field that holds the limit. */
interface Within {
  readonly name: string;
  readonly inventory: Inventory;
  readonly field: string;
}

function hostsOf(within: Within, term: string): Iterable<string> {
  const { name, inventory, field } = within;
  if (term === ALL) return inventory.hosts.keys();
  if (inventory.hosts.has(term)) return [term];
  if (inventory.groups.has(term)) return groupHosts(inventory, term);
  if (term === '')
    throw new Failure('invalid_argument', `${field}: expected a host or a group before and after each ",".`);
  if (PATTERN.test(term) && !term.includes('::'))
    throw new Failure(
      'invalid_argument',
      `${field}: ${quoted(term)} is a pattern; expected names of hosts and groups, "," between ` +
        'them and "!" before one to leave it out.',
    );
  throw unknown(within, term, name === LOCALHOST ? `expected ${LOCALHOST}` : 'expected one of its hosts or groups');
}

function unknown({ name, field }: Pick<Within, 'name' | 'field'>, term: string, expected: string): Failure {
  const host = quoted(term);
  return new Failure('invalid_argument', `${field}: host ${host} is not in inventory ${quoted(name)}; ${expected}.`);
}

/** Characters of a limit in a summary. */
const LIMIT_CHARACTERS = 64;

/** What a summary names: `prod`, or `prod, limit web1`, so that requests on one inventory can be distinguished. */
export function placeOf({ inventory, limit }: { readonly inventory: string; readonly limit?: string | null }): string {
  if (limit === undefined || limit === null) return inventory;
  const short = limit.length <= LIMIT_CHARACTERS ? limit : `${limit.slice(0, LIMIT_CHARACTERS)}…`;
  return `${inventory}, limit ${short}`;
}
