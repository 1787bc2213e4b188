import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { connections } from '../../domain/inventories/connection.ts';
import { fingerprint, type HostKey, isFingerprint } from '../../domain/inventories/host-key.ts';
import { limitHosts } from '../../domain/inventories/limit.ts';
import { inParallel } from '../../lib/flow/parallel.ts';
import { deleteHostKeys, hostKeysOf, setHostKeys } from '../../store/inventories/host-keys.ts';
import { getInventory, holdInventory } from '../../store/inventories/inventories.ts';
import type { HostKeyRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { type Context, localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

const LOCAL_ONLY = localOnly('Host keys are accepted on the machine only, because they decide whom a job talks to.');

/** Hosts that are asked for their keys in one call, and at a time. */
const HOSTS_MAX = 1_000;
const AT_A_TIME = 16;

const hostsField = z
  .string()
  .max(1_000, { error: 'expected at most 1000 characters' })
  .describe('Hosts and groups of the inventory, as in --limit');

interface Scanned {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly keys: readonly HostKey[];
  /** Why there are no keys; null where there are. */
  readonly fault: string | null;
}

/** Asks each of the hosts for its keys. Throws not_found and invalid_argument. */
async function scanHosts({ store, services }: Context, name: string, hosts: string): Promise<readonly Scanned[]> {
  const inventory = await getInventory(store.db, name);
  const targets = connections(inventory, limitHosts(name, inventory, hosts, 'hosts')).filter(
    ({ kind }) => kind === 'ssh',
  );
  if (targets.length === 0) throw new Failure('invalid_argument', 'hosts: none of them is reached over SSH.');
  if (targets.length > HOSTS_MAX)
    throw new Failure('invalid_argument', `hosts: expected at most ${HOSTS_MAX}; these are ${targets.length}.`);
  const found = new Map<string, Scanned>();
  await inParallel(targets, AT_A_TIME, async ({ host, address, port }) => {
    const at = { host, address, port };
    try {
      found.set(host, { ...at, keys: await services.hostKeys.scan({ address, port }), fault: null });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      found.set(host, { ...at, keys: [], fault: error.message });
    }
  });
  return targets.flatMap(({ host }) => found.get(host) ?? []);
}

function scanView({ keys, ...scanned }: Scanned, known: readonly HostKeyRow[]): ViewItem<'inventory.host_keys'> {
  return {
    ...scanned,
    keys: keys.map((key) => ({ type: key.type, fingerprint: fingerprint(key), accepted: isKnown(key, known) })),
    // A host that shows another key than before is another host, or has a new key.
    accepted: known.map((key) => ({ type: key.type, fingerprint: fingerprint(key) })),
  };
}

function isKnown(key: HostKey, known: readonly HostKeyRow[]): boolean {
  return known.some((each) => each.type === key.type && each.key === key.key);
}

const scan = readOperation({
  id: 'inventory.scan',
  summary: 'Show the keys that hosts offer now; nothing is accepted',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'inventory scan', positionals: ['name', 'hosts'], examples: ['svc inventory scan prod web1'] },
  input: z.strictObject({ name: field.name, hosts: hostsField }),
  answers: ['inventory.host_keys'],
  failures: ['not_found'],
  async run(context, { name, hosts }) {
    const scanned = await scanHosts(context, name, hosts);
    const known = await hostKeysOf(context.store.db, name);
    return reply(
      'inventory.host_keys',
      scanned.map((each) => scanView(each, known.get(each.host) ?? [])),
    );
  },
});

const trust = writeOperation({
  id: 'inventory.trust',
  causes: { of: 'inventory' },
  summary: 'Accept the keys of hosts after you compared their fingerprints',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'inventory trust',
    confirm: { by: 'host-keys', scan: 'inventory scan', field: 'fingerprints' },
    positionals: ['name', 'hosts'],
    examples: ['svc inventory trust prod web1', 'svc inventory trust prod web1 --fingerprint SHA256:…'],
  },
  input: z.strictObject({
    name: field.name,
    hosts: hostsField,
    fingerprints: z
      .array(z.string().refine(isFingerprint, { error: 'expected SHA256: and 43 characters' }))
      .min(1, { error: 'expected at least one fingerprint' })
      .max(3 * HOSTS_MAX, { error: `expected at most ${3 * HOSTS_MAX} fingerprints` })
      .optional()
      .describe('Fingerprint of an expected key, in place of the question; repeatable'),
  }),
  answers: ['inventory.host_keys'],
  failures: ['not_found', 'conflict'],
  async prepare(context, { name, hosts, fingerprints }) {
    // Only what a person has compared is accepted.
    if (fingerprints === undefined) throw new Failure('invalid_argument', 'fingerprints: this field is required.');
    const scanned = await scanHosts(context, name, hosts);
    const expected = new Set(fingerprints);
    const found = scanned.map((each) => ({ ...each, keys: each.keys.filter((key) => expected.has(fingerprint(key))) }));
    const [first] = scanned;
    if (found.every(({ keys }) => keys.length === 0) && first !== undefined) throw noneOf(first);
    return found.map((each) =>
      each.fault === null && each.keys.length === 0 ? { ...each, fault: 'it offers none of the expected keys' } : each,
    );
  },
  async run({ tx, caller }, { name }, found) {
    await holdInventory(tx, name);
    const { hosts } = await getInventory(tx.db, name);
    const accepted = found.filter(({ host, keys }) => keys.length > 0 && hosts.has(host));
    for (const { host, keys } of accepted) await setHostKeys(tx, { inventory: name, host }, keys, caller.name);
    const known = await hostKeysOf(tx.db, name);
    const views = found.map((each) => scanView(each, known.get(each.host) ?? []));
    const fingerprints = accepted.flatMap(({ keys }) => keys.map(fingerprint)).slice(0, HOSTS_MAX);
    return written(reply('inventory.host_keys', views), name, { hosts: accepted.length, fingerprints });
  },
});

function noneOf({ host, keys, fault }: Scanned): Failure {
  if (fault !== null) return new Failure('conflict', `hosts: ${host}: ${fault}; nothing was accepted.`);
  const offered = keys.map(fingerprint).join(', ');
  return new Failure(
    'conflict',
    `fingerprints: ${host} offers ${offered}, which is not expected; nothing was accepted.`,
  );
}

const untrust = writeOperation({
  id: 'inventory.untrust',
  causes: { of: 'inventory' },
  summary: 'Remove the accepted keys of hosts; jobs cannot reach them then',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'inventory untrust', positionals: ['name', 'hosts'], examples: ['svc inventory untrust prod web1'] },
  input: z.strictObject({ name: field.name, hosts: hostsField }),
  failures: ['not_found'],
  async run({ tx }, { name, hosts }) {
    await holdInventory(tx, name);
    let removed = 0;
    for (const host of limitHosts(name, await getInventory(tx.db, name), hosts, 'hosts'))
      removed += await deleteHostKeys(tx, name, host);
    if (removed === 0) throw new Failure('not_found', `No key of these hosts of inventory ${name} was accepted.`);
    return written(replyNone, name, { keys: removed });
  },
});

export const HOST_KEY_OPERATIONS = [scan, trust, untrust];
