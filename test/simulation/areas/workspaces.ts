import { call, keyOf, some } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

const NAMES = ['net', 'dns'] as const;
/** Most of what is done is done in one, so that it meets. */
const name = (chance: Stream): (typeof NAMES)[number] => chance.pick(['net', 'net', 'net', 'dns']);

function run(verb: string): (chance: Stream) => Made {
  return (chance) => call('operator', `workspace.${verb}`, { name: name(chance) }, keyOf(chance));
}

/** Most of the newest plan: the others are stale, or were applied. */
function applySaved(chance: Stream): Made {
  const workspace = name(chance);
  const plan = { of: `plan of ${workspace}`, at: chance.chance(0.8) ? 1 - 1e-9 : chance.next() };
  return call('operator', 'workspace.apply', { name: workspace, plan }, keyOf(chance));
}

export const WORKSPACES: SimulatedArea = {
  rarity: 3,
  isUnmodelled: true,
  files: Object.fromEntries(NAMES.map((each) => [`/roots/${each}/main.tf`, `# ${each}\n`])),
  scene: NAMES.map((each) => ['local', 'workspace.add', { name: each, dir: `/roots/${each}` }] as const),
  makers: [
    [12, run('plan')],
    [14, applySaved],
    [3, run('apply')],
    [1, run('destroy')],
    [1, (chance) => call('local', 'workspace.drift', { name: name(chance) }, keyOf(chance))],
    [2, (chance) => call('operator', 'job.cancel', { id: some(chance, 'run of a workspace') })],
  ],
  picks: {
    'run of a workspace': 'jobs where workspace is not null',
    ...Object.fromEntries(NAMES.map((each) => [`plan of ${each}`, `artifacts where workspace = '${each}'`])),
  },
  atRest: [
    {
      rule: 'T6',
      sql: `select workspace, version, serial, before from (select workspace, version, serial,
        lag(serial) over (partition by workspace order by version) as before from states where version > 0)
        where serial <= before`,
      words: ({ workspace, version, serial, before }) =>
        `version ${String(version)} of ${String(workspace)} has serial ${String(serial)} after ${String(before)}`,
    },
    {
      rule: 'T7',
      sql: `select workspace, count(distinct lineage) as n from states where version > 0
        group by workspace having count(distinct lineage) > 1`,
      words: ({ workspace, n }) => `the versions of ${String(workspace)} have ${String(n)} lineages`,
    },
    {
      rule: 'T8',
      sql: `select workspaces.name, workspaces.serial, states.serial as stored from workspaces
        join states on states.workspace = workspaces.name
        where version = (select max(version) from states as others where others.workspace = workspaces.name)
        and version > 0 and (workspaces.serial is null or workspaces.serial <> states.serial)`,
      words: ({ name: workspace, serial, stored }) =>
        `${String(workspace)} notes serial ${String(serial)}, and its newest version has ${String(stored)}`,
    },
  ],
};
