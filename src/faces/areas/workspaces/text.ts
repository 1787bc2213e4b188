import { shortCounts } from '../../../domain/plan-words.ts';
import type { Projected } from '../../../views/views.ts';
import type { Display, Paint } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { relative } from '../../text/time.ts';

type Workspace = Projected<'workspace.list'>[number];

export const DRIFT_PAINT: Readonly<Record<Workspace['drift'], Paint>> = {
  unknown: 'dim',
  clean: 'green',
  drifted: 'yellow',
};

function workspaces(data: Projected<'workspace.list'>, display: Display): Table {
  return table(data, 'No workspaces. Add one with: svc workspace add NAME --dir DIR', [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'SERIAL', cell: (each) => serial(each) },
    { title: 'DRIFT', cell: (each) => drift(each, display), paint: (each) => DRIFT_PAINT[each.drift] },
    { title: 'HELD BY', cell: (each) => each.locked_by ?? '-', mayDrop: true },
    { title: 'LAST PLAN', cell: (each) => each.last_plan_job_id ?? '-', mayDrop: true },
    { title: 'LAST APPLY', cell: (each) => each.last_apply_job_id ?? '-', mayDrop: true },
    { title: 'FILES', cell: files, mayCut: true },
  ]);
}

function workspace(data: Projected<'workspace.get'>, display: Display): Sheet {
  const { policy, inputs } = data;
  return sheet([
    ['Workspace', data.name],
    ['Files', files(data)],
    ['Serial', serial(data)],
    ['Drift', drift(data, display)],
    ['Last plan', data.last_plan_job_id ?? '-'],
    ['Last apply', data.last_apply_job_id ?? '-'],
    ['Held by', data.locked_by ?? '-'],
    [
      'Needs approval',
      `a saved plan ${policy.approve_when === null ? DEFAULT_POLICY : `where ${policy.approve_when}`}`,
    ],
    ['Needs none', ungated(policy).join(', ')],
    ['Refused', refusals(policy).join(', ') || 'nothing'],
    ['Variables', [...inputs.vars, ...inputs.var_files].join(', ') || null],
    ['Secrets', inputs.run_secrets.join(', ') || null],
  ]);
}

const DEFAULT_POLICY = 'that destroys or replaces anything (the default)';

type Policy = Projected<'workspace.get'>['policy'];

/** What one person can do alone; the ledger marks the last two. */
function ungated({ require_saved_plan: plansOnly, protect_destroy: isProtected }: Policy): string[] {
  return [
    'plan',
    'drift',
    'every other saved plan',
    ...(plansOnly ? [] : ['an apply without a saved plan']),
    ...(isProtected ? [] : ['a destroy of everything']),
  ];
}

function refusals({ deny_when: deny, require_saved_plan: plansOnly, protect_destroy: isProtected }: Policy): string[] {
  return [
    ...(deny === null ? [] : [`a saved plan where ${deny}`]),
    ...(plansOnly ? ['an apply without a saved plan (require_saved_plan)'] : []),
    ...(isProtected ? ['a destroy of everything (protect_destroy)'] : []),
  ];
}

export const NO_STATES = 'The service stores no state of it: nothing was applied yet, or the root has its own backend.';

/** What the two numbers mean, below the list. */
const NUMBERS =
  'Each change that the service stores is a version. A serial counts the changes of the state itself; terraform ' +
  'raises it.\nA saved plan can be applied while the serial is the one that it was made from. A negative version was ' +
  'set aside: another state\nwas newer.\n';

function states(data: Projected<'workspace.state'>, display: Display): Text {
  const list = stateTable(data, display);
  return data.length === 0 ? list : [list, NUMBERS];
}

function stateTable(data: Projected<'workspace.state'>, display: Display): Table {
  return table(data, NO_STATES, [
    {
      title: 'VERSION',
      cell: (each) => (each.version < 0 ? `${each.version} (set aside)` : String(each.version)),
      paint: (each) => (each.version < 0 ? 'yellow' : undefined),
    },
    { title: 'SERIAL', cell: (each) => String(each.serial) },
    { title: 'RESOURCES', cell: (each) => String(each.resources) },
    { title: 'MADE BY', cell: (each) => each.job_id ?? '-' },
    { title: 'CREATED', cell: (each) => relative(each.created_at, display.nowMs) },
  ]);
}

type Plan = Projected<'workspace.plans'>[number];

const USE_PAINT: Readonly<Record<Plan['use'], Paint>> = { open: 'green', used: 'dim', stale: 'yellow' };

function plans(data: readonly Plan[], display: Display): Table {
  return table(data, 'No saved plans. Make one with: svc workspace plan NAME', [
    { title: 'USE', cell: ({ use }) => use, paint: ({ use }) => USE_PAINT[use] },
    { title: 'PLAN', cell: ({ id }) => id },
    { title: 'SERIAL', cell: (each) => String(each.serial) },
    { title: 'CHANGES', cell: ({ summary }) => shortCounts(summary), mayCut: true },
    { title: 'POLICY', cell: ({ verdict }) => verdict ?? '-', mayDrop: true },
    { title: 'MADE BY', cell: ({ job_id: id }) => id, mayDrop: true },
    { title: 'USED BY', cell: ({ used_by: id }) => id ?? '-', mayDrop: true },
    { title: 'MADE', cell: ({ created_at: at }) => relative(at, display.nowMs) },
  ]);
}

function serial({ serial: value }: Pick<Workspace, 'serial'>): string {
  return value === null ? '-' : String(value);
}

function drift({ drift: state, drift_checked_at: at }: Workspace, display: Display): string {
  return at === null ? state : `${state}, ${relative(at, display.nowMs)}`;
}

function files({ source, path }: Workspace): string {
  if (source === null) return path;
  return path === '' ? `source ${source}` : `source ${source}, ${path}`;
}

export const WORKSPACES_TEXTS = {
  'workspace.list': workspaces,
  'workspace.get': workspace,
  'workspace.state': states,
  'workspace.plans': plans,
};
