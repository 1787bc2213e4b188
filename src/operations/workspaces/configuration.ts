import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Entry } from '../../domain/configuration/change.ts';
import { readInputs } from '../../domain/workspaces/inputs.ts';
import type { WorkspaceRow } from '../../store/schema/schema.ts';
import { listWorkspaces } from '../../store/workspaces/workspaces.ts';
import * as field from '../core/fields.ts';
import { jsonSchema } from '../core/json-schema.ts';
import { realDirectory } from '../sources/real-directory.ts';
import { INPUTS } from './workspace-inputs.ts';
import { PLACE } from './workspace-place.ts';
import { hiddenValues } from '../core/sections/hidden.ts';
import type { ConfigSection } from '../core/sections/section.ts';
import { readEntry, withoutEmpty } from '../core/sections/read-entry.ts';

const PLACES = ['dir', 'source', 'path'] as const;

const entry = z.strictObject({
  ...PLACE,
  approve_when: z.string().min(1).optional().describe('CEL; true requires approval. Default: plans that destroy'),
  deny_when: z.string().min(1).optional().describe('CEL; true refuses the plan'),
  require_saved_plan: field.flag.describe('Refuse an apply without a saved plan'),
  protect_destroy: field.flag.describe('Refuse destroy runs'),
  unprotected: field.flag.describe('In a strict service too, allow what these two do not refuse'),
  vars: z
    .record(
      z.string(),
      z.union([z.string(), z.number(), z.boolean()], { error: 'expected a text, a number, true or false' }),
    )
    .optional()
    .describe('Variables of every run; [kept] keeps the stored value'),
  run_secrets: INPUTS.run_secrets,
});

/** What each run gets. Files of variables are stored with their texts and are no part of a configuration file. */
const INPUT_FIELDS = ['vars', 'run_secrets'] as const;

export const workspacesSection: ConfigSection = {
  word: 'workspace',
  credentials: hiddenValues('vars'),
  folders: ['dir'],
  schema: () => jsonSchema(entry, 'input'),
  async stored({ db }) {
    const rows = await listWorkspaces(db);
    return new Map(
      rows.map(({ name, source, path, approve_when, deny_when, ...row }) => [
        name,
        withoutEmpty({
          ...(source === null ? { dir: path } : { source, path: path === '' ? null : path }),
          approve_when,
          deny_when,
          require_saved_plan: row.require_saved_plan === 1,
          protect_destroy: row.protect_destroy === 1,
          unprotected: row.unprotected === 1,
          ...inputsOf(row.inputs),
        }),
      ]),
    );
  },
  async read(map, restore) {
    const { dir, path, vars = {}, ...rest } = readEntry(entry, map, restore);
    const place = {
      dir: dir === undefined ? undefined : await realDirectory(dir),
      path: path === '' ? undefined : path,
    };
    const texts = Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)]));
    return withoutEmpty({ ...place, ...rest, vars: texts });
  },
  add: (name, to) => [['workspace.add', { name, ...to }]],
  change(name, from, to) {
    const policy = {
      approve_when: to['approve_when'] ?? '',
      deny_when: to['deny_when'] ?? '',
      require_saved_plan: to['require_saved_plan'] === true,
      protect_destroy: to['protect_destroy'] === true,
      ...(from['unprotected'] === to['unprotected'] ? {} : { unprotected: to['unprotected'] === true }),
    };
    return [['workspace.update', { name, ...placeChange(from, to), ...policy, ...inputChange(from, to) }]];
  },
  remove: (name) => [['workspace.remove', { name }]],
};

function inputsOf(column: WorkspaceRow['inputs']): Entry {
  const { vars, runSecrets } = readInputs(column);
  return { vars, run_secrets: runSecrets };
}

/** A given list replaces the stored one, so that an empty one forgets it. */
function inputChange(from: Entry, to: Entry): Entry {
  const changed = INPUT_FIELDS.filter((each) => !isDeepStrictEqual(from[each], to[each]));
  return Object.fromEntries(changed.map((each) => [each, to[each] ?? {}]));
}

/** An update that names a place is refused while a job runs, so one that stays is left out. */
function placeChange(from: Entry, to: Entry): Entry {
  if (PLACES.every((each) => from[each] === to[each])) return {};
  return withoutEmpty(Object.fromEntries(PLACES.map((each) => [each, to[each]])));
}
