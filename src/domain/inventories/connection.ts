import { ALL, type Inventory, isNumber, type Vars } from './inventory.ts';

export const SSH_PORT = 22;

/** How long a host may say nothing, in seconds. A constant of the service, also where Ansible connects. */
export const SSH_SILENCE = {
  /** For the connection, the key exchange and the sign-in: then the host is unreachable. */
  connectWithinS: 10,
  /** A host that was lost later is noticed after `aliveCount` of these. */
  aliveEveryS: 15,
  aliveCount: 3,
} as const;

/** How a host is reached. */
export interface Connection {
  readonly host: string;
  /** Its name for the network, or its address. */
  readonly address: string;
  readonly port: number;
  /** Null: the account that the job runs as. */
  readonly user: string | null;
  readonly kind: 'ssh' | 'local';
}

/** How these hosts of the inventory are reached, with the variables merged as Ansible merges them. */
export function connections(inventory: Inventory, hosts: readonly string[]): Connection[] {
  const layersOf = LAYERS.getOrInsertComputed(inventory, layers);
  return hosts.map((host) => connectionOf(host, layersOf(host)));
}

/** By inventory: a command on this machine has the same one each time. */
const LAYERS = new WeakMap<Inventory, ReturnType<typeof layers>>();

/** What gives the variables of a host, those that count least first. */
function layers(inventory: Inventory): (host: string) => readonly Vars[] {
  const ranks = new Map(groupOrder(inventory).map((name, rank) => [name, rank]));
  const groupsOf = memberships(inventory);
  return (host) => {
    const own = [...(groupsOf.get(host) ?? [])].toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
    const ofGroups = own.flatMap((name) => inventory.groups.get(name)?.vars ?? []);
    return [...ofGroups, inventory.hosts.get(host) ?? new Map()];
  };
}

function connectionOf(host: string, layers: readonly Vars[]): Connection {
  const last = (name: string) => layers.findLast((vars) => vars.has(name))?.get(name) ?? null;
  const [address, port, user] = [last('ansible_host'), last('ansible_port'), last('ansible_user')];
  return {
    host,
    address: typeof address === 'string' ? address : host,
    port: isNumber(port) ? Number(port.number) : SSH_PORT,
    user: typeof user === 'string' ? user : null,
    kind: last('ansible_connection') === 'local' ? 'local' : 'ssh',
  };
}

/** The groups of each host but `all`, in the order of the inventory. */
export function groupsOfHosts(inventory: Inventory): ReadonlyMap<string, string[]> {
  const order = new Map([...inventory.groups.keys()].map((name, at) => [name, at]));
  const sorted = [...memberships(inventory)].map(([host, groups]): [string, string[]] => {
    const own = [...groups].filter((name) => name !== ALL);
    return [host, own.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))];
  });
  return new Map(sorted);
}

/** The groups in the order in which their variables count, the weakest first: by depth, priority, then name. */
function groupOrder({ groups }: Inventory): string[] {
  const depths = new Map<string, number>();
  const parents = parentsOf({ groups });
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    const above = parents.get(name) ?? (name === ALL ? [] : [ALL]);
    const depth = above.reduce((most, parent) => Math.max(most, depthOf(parent) + 1), 0);
    depths.set(name, depth);
    return depth;
  };
  const facts = [...groups].map(([name, { priority }]) => ({ name, priority, depth: depthOf(name) }));
  facts.sort((a, b) => a.depth - b.depth || a.priority - b.priority || (a.name < b.name ? -1 : 1));
  return facts.map(({ name }) => name);
}

function parentsOf({ groups }: Pick<Inventory, 'groups'>): Map<string, string[]> {
  const parents = new Map<string, string[]>();
  for (const [name, { children }] of groups)
    for (const child of children) parents.getOrInsertComputed(child, () => []).push(name);
  return parents;
}

/** All groups of each host, those above its own too. */
function memberships(inventory: Inventory): Map<string, Set<string>> {
  const parents = parentsOf(inventory);
  const above = new Map<string, ReadonlySet<string>>();
  const ancestors = (group: string): ReadonlySet<string> => {
    const known = above.get(group);
    if (known !== undefined) return known;
    const found = new Set([group, ALL]);
    for (const each of found) for (const parent of parents.get(each) ?? []) found.add(parent);
    above.set(group, found);
    return found;
  };
  const groupsOf = new Map<string, Set<string>>();
  for (const [name, { hosts }] of inventory.groups)
    for (const host of hosts) {
      const own = groupsOf.getOrInsertComputed(host, () => new Set());
      for (const group of ancestors(name)) own.add(group);
    }
  return groupsOf;
}
