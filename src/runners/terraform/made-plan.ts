import { join } from 'node:path';
import type { PlanInputs } from '../../domain/workspaces/inputs.ts';
import type { ReadPlan } from '../../domain/workspaces/plan.ts';
import { readRunFile, removeRunFile } from '../run-files/run-files.ts';
import { type ProgramEnd, requireSuccess } from '../runner.ts';
import { DiffMasks, HELD_MAX_BYTES, HeldDiff } from './diff/diff-log.ts';
import { inputsForApply, inputWords } from './inputs/plan-inputs.ts';
import { type PlanFile, sizeOfPlan } from './plan-file.ts';
import { PLAN_JSON_MAX_BYTES, readPlan } from './plan-reader.ts';
import { COMMON, exec, type Run } from './terraform-run.ts';

/** How a plan is made, read and shown in the log: for plan, drift, and an apply or destroy without a saved plan. */

/** A saved plan in clear, for the one tool that carries it out. */
export const PLAN_FILE = 'saved.tfplan';
/** A plan file has the configuration and the state in it, compressed. */
const PLAN_FILE_MAX_BYTES = 64 * 1024 * 1024;
/** As terraform ends where it could not plan everything, with a plan file of the rest. */
const INCOMPLETE = 1;

interface MadePlanFile {
  readonly file: Buffer;
  /** Where programs of the run read it and can't change it. */
  readonly copy: string;
  readonly shown: ShownPlan;
}

/** What is known of a plan. Without masks, its diff is left out of the log. */
interface ShownPlan {
  readonly read: ReadPlan | Error;
  /** Names of variables that its apply needs again. */
  readonly applyVariables: readonly string[];
  readonly masks: DiffMasks | null;
}

/** For a run whose result is the plan. Throws where it could not be read. */
export function planOf({ file, shown }: MadePlanFile): { readonly file: Buffer; readonly read: ReadPlan } {
  if (shown.read instanceof Error) throw shown.read;
  return { file, read: shown.read };
}

/** What of the inputs of a plan its apply is given again. */
export function againFor({ materials }: Run, { shown }: Pick<MadePlanFile, 'shown'>): PlanInputs {
  return inputsForApply(materials.inputs, shown.applyVariables);
}

/**
 * The bytes of the plan are read once, after every process of the tree that made it has ended. What is shown, compared
 * and sealed are those bytes: `show` reads a copy that no program of the run can change, and what it prints has to
 * agree with the file itself.
 *
 * The diff is in the log when this ends, also where it throws: masked, or replaced by a line that says why it is not.
 */
export async function makePlan(run: Run, more: readonly string[] = []): Promise<MadePlanFile> {
  const { tools } = run;
  const diff = new HeldDiff();
  let shown: ShownPlan | null = null;
  try {
    const out = `-out=${join(tools.runDir, PLAN_FILE)}`;
    const words = await inputWords(tools, run.materials.inputs, 'plan');
    const end = await exec(run, ['plan', ...COMMON, ...words, ...more, out], { sifts: { stdout: diff } });
    if (end.reason === 'exited' && end.exitCode === INCOMPLETE && !diff.isEmpty)
      shown = (await readMade(run).catch(() => null))?.shown ?? null;
    requireSuccess(end);
    const made = await readMade(run);
    ({ shown } = made);
    return made;
  } finally {
    await logDiff(run, diff, shown);
  }
}

async function readMade(run: Run): Promise<MadePlanFile> {
  const { tools, tool } = run;
  const file = await readRunFile(tools.runDir, PLAN_FILE, PLAN_FILE_MAX_BYTES).catch(() => null);
  if (file === null) throw new Error(`The tool left no plan file of at most ${PLAN_FILE_MAX_BYTES} bytes.`);
  // Nothing reads it any more; at the latest it is removed with the directory of the run.
  await removeRunFile(tools.runDir, PLAN_FILE).catch(() => undefined);
  const copy = await tools.placeInput(PLAN_FILE, file);
  return { file, copy, shown: await showPlan(run, copy, { bytes: file, tool: tool.name }) };
}

/** Throws where the run was stopped. What is wrong with the plan itself is answered: not every run needs to read it. */
export async function showPlan(run: Run, copy: string, file: PlanFile): Promise<ShownPlan> {
  const { job, materials } = run;
  let end: ProgramEnd | null = null;
  try {
    // What is no plan file is refused in our words before the tool is asked about it.
    sizeOfPlan(file);
    end = await exec(run, ['show', '-json', '-no-color', copy], { captureBytes: PLAN_JSON_MAX_BYTES });
    const { stdout } = requireSuccess(end);
    const secrets = [...job.secrets.values(), ...job.hidden];
    const options = { artifactId: materials.artifactId, secrets, secretVariables: [...job.secrets.keys()], file };
    const { plan, applyVariables, masks } = await readPlan(stdout, options);
    return { read: plan, applyVariables, masks: masks === null ? null : await DiffMasks.of(masks) };
  } catch (error) {
    if (end !== null && (end.reason === 'cancelled' || end.reason === 'timeout' || end.survivors.length > 0))
      throw error;
    const read = error instanceof Error ? error : new Error('The plan could not be read.');
    return { read, applyVariables: [], masks: null };
  }
}

async function logDiff({ tools }: Run, diff: HeldDiff, shown: ShownPlan | null): Promise<void> {
  if (diff.isEmpty) return;
  const masks = shown?.masks ?? null;
  const held = diff.take();
  if (masks !== null && !diff.isOver) return tools.release(masks.masked(held));
  const reason = diff.isOver
    ? `it is longer than ${HELD_MAX_BYTES / (1024 * 1024)} MiB`
    : shown === null || shown.read instanceof Error
      ? 'its plan could not be read'
      : 'its plan masks more or deeper values than are looked for';
  tools.say(`The diff is left out of the log, because ${reason}: it may show values that were sensitive.`, false);
}
