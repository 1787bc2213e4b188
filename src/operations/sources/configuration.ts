import * as z from 'zod';
import type { Entry } from '../../domain/configuration/change.ts';
import { listSources } from '../../store/sources/sources.ts';
import type { SourceRow } from '../../store/schema/schema.ts';
import { jsonSchema } from '../core/json-schema.ts';
import { refuseUnset, shownRunApproval } from '../gate/run-approval.ts';
import { placeOf, SOURCE_FIELDS } from './sources.ts';
import type { Call, ConfigSection } from '../core/sections/section.ts';
import { readEntry, withoutEmpty } from '../core/sections/read-entry.ts';

const entry = z.strictObject(SOURCE_FIELDS);

function entryOf({ kind, location, ref }: Pick<SourceRow, 'kind' | 'location' | 'ref'>, rest: Entry): Entry {
  return withoutEmpty({ [kind]: location, ref, ...rest });
}

function add(name: string, to: Entry, replace: boolean): Call {
  return ['source.add', { name, ...to, replace }];
}

/** Where the files come from. Which commit was fetched is no part of it: `svc source sync` fetches another one. */
export const sourcesSection: ConfigSection = {
  word: 'source',
  isFetched: true,
  folders: ['dir'],
  schema: () => jsonSchema(entry, 'input'),
  async stored({ db }) {
    const rows = await listSources(db);
    return new Map(
      rows.map((row) => [row.name, entryOf(row, { plugins: row.plugins === 1, ...shownRunApproval(row) })]),
    );
  },
  async read(map, restore) {
    const { dir, git, ref, ...rest } = readEntry(entry, map, restore);
    return entryOf(await placeOf(dir, git, ref), rest);
  },
  add: (name, to) => [add(name, to, false)],
  change(name, from, to) {
    refuseUnset(from, to);
    return [add(name, to, true)];
  },
  remove: (name) => [['source.remove', { name }]],
};
