import { BlockList, isIPv4 } from 'node:net';
import { compileNetgroups, type Netgroup, type NetgroupIndex } from '../../../src/domain/netgroups/netgroup.ts';
import { NETGROUP_LIMITS, readPrefixList } from '../../../src/domain/netgroups/prefix-list.ts';
import { seeded } from '../../../test/support/seeded.ts';
import type { Bench } from '../../kit/bench.ts';
import { inTurn, median } from '../../kit/statistics.ts';
import { monotonicMs } from '../../kit/time.ts';

const PREFIXES = 1_000;
const PREFIXES_OF_GROUP = 20;
const ADDRESSES = 200_000;
const GOAL = 1_000_000;

/** Addresses are classified from their text, as a webhook or a check has them. */
export async function classify({ report, quick }: Bench): Promise<void> {
  const rounds = quick ? 5 : 15;
  const groups = someGroups(PREFIXES);
  const index = compileNetgroups(groups);
  const list = new BlockList();
  for (const prefix of groups.flatMap((group) => [...group.prefixes, ...group.excludes])) {
    const [address = '', bits] = prefix.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  for (const family of ['ipv4', 'ipv6'] as const) {
    const addresses = Array.from({ length: ADDRESSES }, family === 'ipv4' ? fourAddress : sixAddress);
    const { own, floor } = await inTurn(rounds, {
      own: () => perSecond(addresses, (address) => index.classify(address) === 'away'),
      floor: () => perSecond(addresses.slice(0, ADDRESSES / 20), (address) => list.check(address, family)),
    });
    report.add({
      name: `addresses classified over ${PREFIXES} prefixes, ${family}`,
      value: own,
      unit: '/s',
      floor: { name: 'BlockList of node:net, in any prefix or not', value: floor },
      goal: { atLeast: GOAL },
    });
  }
  const many = someGroups(NETGROUP_LIMITS.prefixesInAll);
  const compiled = Array.from({ length: rounds }, () => timeOf(() => compileNetgroups(many)));
  report.add({ name: `compiling ${NETGROUP_LIMITS.prefixesInAll} prefixes: p50`, value: median(compiled), unit: 'ms' });
}

const { whole } = seeded(12);
const fourAddress = (): string => [10, whole(0, 255), whole(0, 255), whole(0, 255)].join('.');
const sixAddress = (): string => `2001:db8:${hex()}:${hex()}::${hex()}`;
const hex = (): string => whole(0, 65_535).toString(16);

function someGroups(count: number): Netgroup[] {
  return Array.from({ length: count / PREFIXES_OF_GROUP }, (_, group) => {
    const members = Array.from({ length: PREFIXES_OF_GROUP }, (_, at) => {
      const mark = at > 0 && whole(0, 9) === 0 ? '!' : '';
      return whole(0, 1) === 0
        ? `${mark}${fourAddress()}/${whole(12, 32)}`
        : `${mark}${sixAddress()}/${whole(36, 128)}`;
    });
    return { name: `group-${group}`, ...readPrefixList(members.join(',')) };
  });
}

function perSecond(addresses: readonly string[], check: (address: string) => boolean): number {
  let hits = 0;
  const ms = timeOf(() => {
    for (const address of addresses) if (check(address)) hits += 1;
  });
  if (hits === 0 || hits === addresses.length) throw new Error('All addresses have the same answer.');
  return addresses.length / (ms / 1_000);
}

function timeOf(work: () => NetgroupIndex | void): number {
  const before = monotonicMs();
  work();
  return monotonicMs() - before;
}
