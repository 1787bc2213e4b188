import { resolve } from 'node:path';
import { z } from 'zod';
import type { Entry } from '../../../domain/configuration/change.ts';
import { listWorkspaces } from '../../../store/workspaces/workspaces.ts';
import * as field from '../../core/fields.ts';
import { jsonSchema } from '../../core/json-schema.ts';
import { PLACE } from '../../workspaces/workspace-place.ts';
import type { ConfigKind } from '../kind.ts';
import { readEntry, withoutEmpty } from '../read-entry.ts';

const PLACES = ['dir', 'source', 'path'] as const;

const entry = z.strictObject({
  ...PLACE,
  approve_when: z.string().min(1).optional().describe('CEL; true requires approval. Default: plans that destroy'),
  deny_when: z.string().min(1).optional().describe('CEL; true refuses the plan'),
  require_saved_plan: field.flag.describe('Refuse an apply without a saved plan'),
  protect_destroy: field.flag.describe('Refuse destroy runs'),
});

export const workspaces: ConfigKind = {
  word: 'workspace',
  schema: () => jsonSchema(entry, 'input'),
  async stored({ store }) {
    const rows = await listWorkspaces(store.db);
    return new Map(
      rows.map(({ name, source, path, approve_when, deny_when, ...row }) => [
        name,
        withoutEmpty({
          ...(source === null ? { dir: path } : { source, path: path === '' ? null : path }),
          approve_when,
          deny_when,
          require_saved_plan: row.require_saved_plan === 1,
          protect_destroy: row.protect_destroy === 1,
        }),
      ]),
    );
  },
  read(map, restore) {
    const { dir, path, ...rest } = readEntry(entry, map, restore);
    const place = { dir: dir === undefined ? undefined : resolve(dir), path: path === '' ? undefined : path };
    return Promise.resolve(withoutEmpty({ ...place, ...rest }));
  },
  add: (name, to) => [['workspace.add', { name, ...to }]],
  change(name, from, to) {
    const policy = {
      approve_when: to['approve_when'] ?? '',
      deny_when: to['deny_when'] ?? '',
      require_saved_plan: to['require_saved_plan'] === true,
      protect_destroy: to['protect_destroy'] === true,
    };
    return [['workspace.update', { name, ...placeChange(from, to), ...policy }]];
  },
  remove: (name) => [['workspace.remove', { name }]],
};

/** An update that names a place is refused while a job runs, so one that stays is left out. */
function placeChange(from: Entry, to: Entry): Entry {
  if (PLACES.every((each) => from[each] === to[each])) return {};
  return withoutEmpty(Object.fromEntries(PLACES.map((each) => [each, to[each]])));
}
