import { subjectOf } from '../../domain/events/causes.ts';
import { leaveCause } from '../../store/events/causes.ts';
import type { Caller } from '../../domain/access/caller.ts';
import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { plainAddress, canonicalAddress } from '../../lib/ip/address.ts';
import { touchedGroups } from '../../domain/netgroups/touched.ts';
import { AWAY, type PrefixList, readPrefixList } from '../../domain/netgroups/prefix-list.ts';
import {
  deleteNetgroup,
  insertNetgroup,
  listNetgroups,
  netgroupOf,
  replaceNetgroup,
} from '../../store/netgroups/netgroups.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { NetgroupRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import type { Services } from '../core/services.ts';
import type { ViewData } from '../../views/views.ts';

/** Longer lists are not read: a thousand of the longest prefixes with blanks between them have fewer characters. */
const LIST_CHARACTERS_MAX = 65_536;
/** An IPv6 address that ends as IPv4 has 45 characters. */
const ADDRESS_CHARACTERS_MAX = 64;

function netgroupView(row: NetgroupRow): ViewData<'netgroup.get'> {
  const { name, prefixes, excludes } = netgroupOf(row);
  return { id: row.id, name, prefixes: [...prefixes], excludes: [...excludes] };
}

/** For the ledger: counts. */
function counts({ prefixes, excludes }: PrefixList) {
  return { prefixes: prefixes.length, excludes: excludes.length };
}

/** The next message to this daemon is classified by the new groups; other daemons are notified. */
function forgetAfter(tx: Tx, { netgroups }: Services): void {
  tx.afterCommit(() => netgroups.forget());
}

const prefixes = field.as(
  'CIDR,...',
  z
    .string({ error: 'expected prefixes with commas between them, such as 10.0.0.0/8,!10.1.0.0/16' })
    .max(LIST_CHARACTERS_MAX, { error: `expected at most ${LIST_CHARACTERS_MAX} characters` })
    .describe('CIDR prefixes with commas between them; "!" before one excludes it'),
);

const list = readOperation({
  id: 'netgroup.list',
  summary: 'List netgroups: named sets of networks',
  scopes: READERS,
  http: { method: 'GET', path: '/netgroups' },
  cli: { verb: 'netgroup list', examples: ['svc netgroup list'] },
  mcp: { tool: 'netgroup_list' },
  answers: ['netgroup.list'],
  run: async ({ store }) => reply('netgroup.list', (await listNetgroups(store.db)).map(netgroupView)),
});

const add = writeOperation({
  id: 'netgroup.add',
  causes: { of: 'netgroup', by: 'leaveTouched, for each group that shares addresses with it' },
  summary: 'Add a netgroup',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/netgroups' },
  cli: {
    verb: 'netgroup add',
    positionals: ['name'],
    examples: ["svc netgroup add dc-eu --prefixes '10.0.0.0/16,!10.0.9.0/24,fd00:1::/32'"],
  },
  mcp: { tool: 'netgroup_add', additive: true },
  input: z.strictObject({ name: field.name, prefixes }),
  answers: ['netgroup.get'],
  failures: ['duplicate', 'conflict'],
  async prepare(_context, { name, prefixes }) {
    if (name === AWAY)
      throw new Failure('invalid_argument', `name: "${AWAY}" stands for every other address; choose another name.`);
    return readPrefixList(prefixes);
  },
  async run({ tx, services, caller }, { name }, list) {
    const row = await insertNetgroup(tx, name, list);
    await leaveTouched(tx, caller, list);
    forgetAfter(tx, services);
    return written(reply('netgroup.get', netgroupView(row)), name, counts(list));
  },
});

const set = writeOperation({
  id: 'netgroup.set',
  causes: { of: 'netgroup', by: 'leaveTouched, for each group that shares addresses with it' },
  summary: 'Replace all prefixes and exclusions of a netgroup',
  scopes: OPERATORS,
  // The contract has the name in the body too.
  http: { method: 'PUT', path: '/netgroups/{name}', repeats: ['name'] },
  cli: { verb: 'netgroup set', positionals: ['name'], examples: ["svc netgroup set dc-eu --prefixes '10.0.0.0/15'"] },
  mcp: { tool: 'netgroup_set' },
  input: z.strictObject({ name: field.name, prefixes }),
  answers: ['netgroup.get'],
  failures: ['not_found', 'conflict'],
  prepare: async (_context, { prefixes }) => readPrefixList(prefixes),
  async run({ tx, services, caller }, { name }, list) {
    const before = (await listNetgroups(tx.db)).filter((group) => group.name === name).map(netgroupOf);
    const row = await replaceNetgroup(tx, name, list);
    await leaveTouched(tx, caller, ...before, list);
    forgetAfter(tx, services);
    return written(reply('netgroup.get', netgroupView(row)), name, counts(list));
  },
});

const remove = writeOperation({
  id: 'netgroup.remove',
  causes: { of: 'netgroup', by: 'leaveTouched, for each group that shares addresses with it' },
  summary: 'Remove a netgroup; its addresses are in another one or away',
  scopes: OPERATORS,
  http: { method: 'DELETE', path: '/netgroups/{name}' },
  cli: { verb: 'netgroup remove', positionals: ['name'], examples: ['svc netgroup remove dc-eu'] },
  mcp: { tool: 'netgroup_remove' },
  input: z.strictObject({ name: field.name }),
  failures: ['not_found'],
  async run({ tx, services, caller }, { name }) {
    await leaveTouched(tx, caller, netgroupOf(await deleteNetgroup(tx, name)));
    forgetAfter(tx, services);
    return written(replyNone, name);
  },
});

const classify = readOperation({
  id: 'netgroup.classify',
  summary: 'Show the netgroup of an address, and the prefix that decides it',
  scopes: READERS,
  ...localOnly('Addresses are classified on the machine; the API has no route for it.'),
  cli: { verb: 'netgroup classify', positionals: ['address'], examples: ['svc netgroup classify 10.0.1.19'] },
  input: z.strictObject({
    address: z
      .string()
      .max(ADDRESS_CHARACTERS_MAX)
      .refine((text) => canonicalAddress(text) !== null, {
        error: 'expected an IPv4 or IPv6 address without a zone, such as 10.0.1.19 or 2001:db8::1',
      }),
  }),
  answers: ['netgroup.classify'],
  async run({ services }, { address }) {
    const index = await services.netgroups.current();
    const match = index.match(address);
    return reply('netgroup.classify', {
      address: plainAddress(address),
      netgroup: index.classify(address),
      match: match === null ? null : { ...match, excluded: match.isExclusion },
    });
  },
});

/**
 * Who changes a group changes what is said of each address in what it has or had: that may be in another group now, or
 * in none.
 */
async function leaveTouched(tx: Tx, { owner }: Pick<Caller, 'owner'>, ...lists: readonly PrefixList[]): Promise<void> {
  const groups = (await listNetgroups(tx.db)).map(netgroupOf);
  for (const name of [...touchedGroups(lists, groups), AWAY]) await leaveCause(tx, subjectOf('netgroup', name), owner);
}

export const NETGROUP_OPERATIONS = [list, add, set, remove, classify];
