import * as z from 'zod';
import { readPrefixList } from '../../domain/netgroups/prefix-list.ts';
import { listNetgroups, netgroupOf } from '../../store/netgroups/netgroups.ts';
import { jsonSchema } from '../core/json-schema.ts';
import type { Call, ConfigSection } from '../core/sections/section.ts';
import { readEntry, withoutEmpty } from '../core/sections/read-entry.ts';
import type { Entry } from '../../domain/configuration/change.ts';

const entry = z.strictObject({
  prefixes: z.array(z.string()).describe('CIDR prefixes, such as 10.0.0.0/8'),
  excludes: z.array(z.string()).default([]).describe('Prefixes within them that are not in the group'),
});

type Lists = z.output<typeof entry>;

function textOf({ prefixes, excludes }: Lists): string {
  return [...prefixes, ...excludes.map((each) => `!${each}`)].join(',');
}

function call(operation: 'netgroup.add' | 'netgroup.set', name: string, to: Entry): Call {
  return [operation, { name, prefixes: textOf(entry.parse(to)) }];
}

export const netgroupsSection: ConfigSection = {
  word: 'netgroup',
  isDirect: true,
  schema: () => jsonSchema(entry, 'input'),
  async stored({ db }) {
    const rows = (await listNetgroups(db)).map(netgroupOf);
    return new Map(rows.map(({ name, ...lists }) => [name, withoutEmpty(lists)]));
  },
  read: async (map, restore) => withoutEmpty({ ...readPrefixList(textOf(readEntry(entry, map, restore))) }),
  add: (name, to) => [call('netgroup.add', name, to)],
  change: (name, _from, to) => [call('netgroup.set', name, to)],
  remove: (name) => [['netgroup.remove', { name }]],
};
