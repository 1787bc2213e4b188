import { STATE_MAX_BYTES } from '../../domain/workspaces/state.ts';
import { hasMoved, type Verdict } from '../../domain/workspaces/plan.ts';
import { judge } from '../../domain/workspaces/policy.ts';
import type {
  SavedPlan,
  State,
  StateCheckpoint,
  StatePosition,
  WorkspaceMaterials,
  WorkspaceResult,
  WorkspaceSpec,
} from '../../domain/workspaces/workspace.ts';
import { listRunFolder } from '../run-files/run-files.ts';
import { outcomeOf, outcomeOfError, type ProgramEnd, type Runner, type RunOutcome } from '../runner.ts';
import type { DiffMasks } from './diff/diff-log.ts';
import { inputWords } from './inputs/plan-inputs.ts';
import { againFor, makePlan, PLAN_FILE, planOf, showPlan } from './made-plan.ts';
import { PrintedState } from './printed-state.ts';
import { backendOf, hasLocalBackend, wasInitialised } from './root.ts';
import { keepBrought } from './state/brought-state.ts';
import { ERRORED_STATE_FILE, readState, STATE_FILE, watchState } from './state-file.ts';
import { readStateBytes } from './state/state-reader.ts';
import { begin, COMMON, exec, must, type Run } from './terraform-run.ts';

/** Where terraform keeps the states of named workspaces, below a root without a backend. */
const NAMED_STATES = 'terraform.tfstate.d';
/** Names that are looked at. */
const NAMED_STATES_MAX = 100;

const NO_STATE: StatePosition = { serial: 0, lineage: '' };

type Outcome = RunOutcome<WorkspaceResult>;

/** Plan, apply, destroy and drift of a workspace, by the terraform (else tofu) on PATH. */
export const terraformRunner: Runner<WorkspaceSpec, WorkspaceMaterials, StateCheckpoint, WorkspaceResult> = {
  clearFiles: [PLAN_FILE],
  async run(job, tools) {
    let run: Run | null = null;
    let outcome: Outcome;
    try {
      run = await begin(job, tools);
      outcome = await step(run);
    } catch (error) {
      outcome = outcomeOfError(error, tools);
    }
    if (outcome.state === 'failed') await run?.kept.drop();
    return outcome;
  },
};

function step(run: Run): Promise<Outcome> {
  const { kind } = run.job;
  if (kind === 'plan' || kind === 'drift') return plan(run, kind);
  return run.materials.plan === null ? applyFresh(run) : applySaved(run, run.materials.plan);
}

/**
 * Initialises the root, before any provider runs. True when it has its own backend, which is not changed. What is
 * checked is checked also where the init is left out.
 */
async function initialise(run: Run): Promise<boolean> {
  if (!(await run.kept.restore())) await init(run);
  const backend = await backendOf(run.root);
  if (backend === 'local') throw localBackend(run);
  await refuseLostBackend(run, backend !== null);
  if (backend === null) await refuseOtherStates(run);
  await run.kept.keep();
  await keepBrought(run, backend !== null);
  return backend !== null;
}

async function init(run: Run): Promise<void> {
  try {
    await must(run, ['init', ...COMMON]);
  } catch (error) {
    // Beside a state the tool asks where it belongs, and a run has no one to answer.
    throw (await hasLocalBackend(run.root)) ? localBackend(run) : error;
  }
}

function localBackend({ job }: Run): Error {
  return new Error(
    'This root keeps its state in its own files (backend "local"), which would be lost with the copy that ' +
      'the run works in. Remove the backend block; then the service keeps the state. Move its state to ' +
      `${STATE_FILE} in the directory of the root, or read it in from its file: ` +
      `svc workspace restore ${job.spec.workspace} --file PATH`,
  );
}

/** A root that had its state somewhere else has none here: everything would be made a second time. */
async function refuseLostBackend(run: Run, ownBackend: boolean): Promise<void> {
  if (run.materials.ownBackend !== true || ownBackend || (await readState(run.root)) !== null) return;
  throw new Error(
    'This root had its own backend at the last run, and has no backend now: every resource would be ' +
      'created a second time. Copy the state as terraform.tfstate into its directory first.',
  );
}

/** A root whose states are those of named workspaces of the tool: the one that is used here would begin with none. */
async function refuseOtherStates({ root, job }: Run): Promise<void> {
  if ((await readState(root)) !== null) return;
  const names: readonly string[] = await listRunFolder(root.runDir, `${root.folder}/${NAMED_STATES}`).catch(() => []);
  for (const name of names.toSorted().slice(0, NAMED_STATES_MAX)) {
    const file = `${NAMED_STATES}/${name}/${STATE_FILE}`;
    if ((await readState(root, file)) === null) continue;
    throw new Error(
      `This root has the state ${file} of a named workspace, which the service does not use, and no other: ` +
        'every resource would be created a second time. Read the state in with: svc workspace restore ' +
        `${job.spec.workspace} --file PATH. To begin with none, remove the folder ${NAMED_STATES}.`,
    );
  }
}

/** Where the state is before the run does anything. */
async function positionBefore(run: Run, ownBackend: boolean): Promise<StatePosition> {
  const state = ownBackend ? await pull(run) : await readState(run.root);
  return state === null ? NO_STATE : { serial: state.serial, lineage: state.lineage };
}

/** The state in the root's backend; null before the first one. */
async function pull(run: Run): Promise<State | null> {
  const { stdout } = await must(run, ['state', 'pull', '-no-color'], STATE_MAX_BYTES);
  return stdout.length === 0 ? null : readStateBytes(stdout);
}

async function plan(run: Run, kind: 'plan' | 'drift'): Promise<Outcome> {
  const { job, tools, materials, root } = run;
  const ownBackend = await initialise(run);
  const before = await positionBefore(run, ownBackend);
  const planned = await makePlan(run);
  const { file, read } = planOf(planned);
  tools.say(
    kind === 'plan'
      ? `Planned: ${read.summary}`
      : read.hasChanges
        ? `Drifted: ${read.summary}`
        : 'No drift: the infrastructure matches the configuration.',
  );
  // No state where there was one is a position too.
  const about = { position: before, ownBackend };
  if (kind === 'drift') {
    return {
      state: 'succeeded',
      exitCode: 0,
      result: { ...about, made: null, drift: read.hasChanges ? 'drifted' : 'clean' },
    };
  }
  const { verdict, reason } = await judge(materials.policy, read.planned);
  tools.say(policyLine(verdict, reason));
  const made = {
    file,
    inputs: againFor(run, planned),
    treeDigest: root.treeDigest,
    needsInit: await wasInitialised(root),
    before,
    plan: read,
    verdict,
    verdictReason: reason,
  };
  const detailed = job.spec.detailedExitcode === true;
  return { state: 'succeeded', exitCode: detailed && read.hasChanges ? 2 : 0, result: { ...about, made, drift: null } };
}

function policyLine(verdict: Verdict, reason: string): string {
  if (verdict === 'clean') return 'Policy: clean, an apply of this plan needs no approval.';
  return verdict === 'deny'
    ? `Policy: denied, ${reason}.`
    : `Policy: a second person has to approve an apply of this plan, ${reason}.`;
}

/** In two steps, because the diff is shown only with what its plan masks. */
async function applyFresh(run: Run): Promise<Outcome> {
  const ownBackend = await initialise(run);
  const planned = await makePlan(run, run.job.kind === 'destroy' ? ['-destroy'] : []);
  const again = await inputWords(run.tools, againFor(run, planned), 'apply');
  return change(run, ownBackend, ['apply', ...COMMON, ...again, planned.copy], planned.shown.masks);
}

async function applySaved(run: Run, saved: SavedPlan): Promise<Outcome> {
  const { tools, tool, root } = run;
  if (root.treeDigest !== saved.treeDigest) {
    throw new Error(
      'The files of this workspace are not those that the plan was made from: make a new plan. Nothing was applied.',
    );
  }
  if (saved.needsInit) await initialise(run);
  else await keepBrought(run, saved.ownBackend);
  await refuseMoved(run, saved);
  const { buffer, byteOffset, byteLength } = saved.file;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const copy = await tools.placeInput(PLAN_FILE, bytes);
  // It prints no diff, but outputs, which may have what was sensitive too.
  const { masks } = await showPlan(run, copy, { bytes, tool: tool.name });
  const again = await inputWords(tools, saved.inputs, 'apply');
  return change(run, saved.ownBackend, ['apply', ...COMMON, ...again, copy], masks);
}

async function refuseMoved(run: Run, saved: SavedPlan): Promise<void> {
  const now = await positionBefore(run, saved.ownBackend);
  if (!hasMoved(saved, now)) return;
  throw new Error(
    `The plan is stale: it was made from serial ${saved.serial}, the state is at serial ${now.serial}. Nothing ` +
      'was applied.',
  );
}

/** Runs what changes the infrastructure. Whatever its end is, what it has made is known afterwards. */
async function change(
  run: Run,
  ownBackend: boolean,
  words: readonly string[],
  masks: DiffMasks | null,
): Promise<Outcome> {
  const { tools, root } = run;
  // The run may have been cancelled while the plan was read.
  tools.signal.throwIfAborted();
  if (masks === null) tools.say('The output may show values that were sensitive: they are not masked here.', false);
  const before = ownBackend ? null : await readState(run.root);
  const done = new AbortController();
  const watching = ownBackend ? null : await watchState(root, tools.clock, (state) => keep(run, state), done.signal);
  // Terraform prints it to standard error; what another version does must not matter.
  const states = { stdout: new PrintedState(), stderr: new PrintedState() };
  const sifts = masks === null ? states : { stdout: masks.after(states.stdout), stderr: masks.after(states.stderr) };
  let end: ProgramEnd;
  try {
    end = await exec(run, words, { sifts });
  } finally {
    done.abort();
    await watching?.ended;
  }
  const printed = (await states.stderr.state()) ?? (await states.stdout.state());
  const result = ownBackend ? await foundInBackend(run, end, printed) : await foundInFolder(run, before, printed);
  return { ...outcomeOf(end), result };
}

/** As `aside`, a state that is not where the root looks for it, for a person to bring there. */
async function keep({ tools }: Run, state: State, as: StateCheckpoint['as'] = 'made'): Promise<void> {
  try {
    await tools.checkpoint({ state, as });
  } catch {
    throw new Error(
      'The state could not be stored. The directory of the run is kept, so that it can be recovered from there.',
    );
  }
}

/** Stores the final state before the directory of the run is removed. */
async function foundInFolder(run: Run, before: State | null, printed: State | null): Promise<WorkspaceResult> {
  const { tools, root } = run;
  // Either is there only where the file that it belongs in could not be written, and has what that lacks.
  const rescued = printed ?? (await readState(root, ERRORED_STATE_FILE));
  if (rescued !== null)
    tools.say(
      'The state could not be written where terraform works, as on a full disk. What it left or printed instead ' +
        'is kept as the newest version.',
    );
  const after = rescued ?? (await readState(run.root));
  const moved = after !== null && !(before !== null && before.bytes.equals(after.bytes));
  if (moved) await keep(run, after);
  if (after === null && before !== null)
    run.tools.say('The state file is gone or torn after this run: the version before it stays the newest.');
  return found(after, false);
}

/** Where the backend is now. What could not be written there is kept here. */
async function foundInBackend(run: Run, end: ProgramEnd, printed: State | null): Promise<WorkspaceResult> {
  const { tools, root } = run;
  const errored = printed ?? (await readState(root, ERRORED_STATE_FILE));
  if (errored !== null) {
    tools.say(
      'The backend could not be written. The state that was left behind is set aside, see "svc workspace state".',
    );
    await keep(run, errored, 'aside');
    // Where the backend is now, the next run asks it.
    return found(null, true);
  }
  // A run that was stopped is not asked for more.
  return found(end.reason === 'exited' ? await pull(run).catch(() => null) : null, true);
}

function found(at: State | null, ownBackend: boolean): WorkspaceResult {
  const position = at === null ? null : { serial: at.serial, lineage: at.lineage };
  return { position, ownBackend, made: null, drift: null };
}
