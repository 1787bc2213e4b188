import { ActionRefused } from '../actions/action-refused.ts';
import { actionRefused } from '../actions/refused-at.ts';
import { approvalIn } from '../approvals/file-fields.ts';
import { CelRefused, didYouMean } from '../cel/refused.ts';
import { Failure } from '../failure.ts';
import { expressionRefused, nameIn } from '../yaml/value-fields.ts';
import { need, refused, refuseOthers, textOf } from '../yaml/fields.ts';
import { readYaml, type YamlMap, type YamlValue } from '../yaml/file.ts';
import { compileStepCondition } from './condition.ts';
import { findCycle, stepsBefore } from './graph.ts';
import { expressionsIn, EXPRESSIONS_MAX, type Step, STEPS_MAX, type Workflow } from './workflow.ts';

/** The content of a workflow file; `name` is null if it has none. */
interface WorkflowFile<A> extends Workflow<A> {
  readonly name: string | null;
}

/** The actions that a step may have: those of rules that make a job. */
export interface StepActions<A> {
  /** Reads the one action among the fields of a step, `own` aside. Throws Failure, which names fields with `prefix`. */
  read(step: YamlMap, own: readonly string[], prefix: string): A;
  /** Checks it with its expressions. Throws ActionRefused. */
  check(action: A): Promise<void>;
}

const FILE_FIELDS = ['name', 'steps'];
const STEP_FIELDS = ['name', 'needs', 'when', 'approval', 'approval_ttl'];

/** A step and where it is in the file. */
interface ReadStep<A> {
  readonly step: Step<A>;
  readonly map: YamlMap;
  /** Before the names of its fields. */
  readonly prefix: string;
}

/**
 * Reads a workflow file and checks all of it, with its expressions. Throws invalid_argument that names the field and
 * its line, and what `actions` throws.
 */
export async function readWorkflowFile<A>(text: string, actions: StepActions<A>): Promise<WorkflowFile<A>> {
  const file = await readYaml(text);
  if (file.kind !== 'map') throw new Failure('invalid_argument', 'file: expected the fields name and steps.');
  return readWorkflow(file, actions);
}

/** The same of fields that were read, as of one workflow of several in a file. */
export async function readWorkflow<A>(file: YamlMap, actions: StepActions<A>): Promise<WorkflowFile<A>> {
  refuseOthers(file, FILE_FIELDS);
  const name = nameIn(file);
  const list = need(file, 'steps');
  const read = readSteps(list, actions);
  const steps = read.map(({ step }) => step);
  refuseUnknownNeeds(read);
  refuseCycle(read);
  if (expressionsIn(steps) > EXPRESSIONS_MAX)
    throw refused('steps', list, `expected at most ${EXPRESSIONS_MAX} times \${…} in all`);
  for (const each of read) await checkExpressions(each, steps, actions);
  return { name, steps };
}

function readSteps<A>(list: YamlValue, actions: StepActions<A>): readonly ReadStep<A>[] {
  if (list.kind !== 'list' || list.items.length === 0) throw refused('steps', list, 'expected a list of steps');
  if (list.items.length > STEPS_MAX) throw refused('steps', list, `expected at most ${STEPS_MAX} steps`);
  const read: ReadStep<A>[] = [];
  const lines = new Map<string, number>();
  for (const [index, map] of list.items.entries()) {
    const each = readStep(map, index, read.at(-1)?.step.name ?? null, actions);
    const { name } = each.step;
    const first = lines.get(name);
    if (first !== undefined)
      throw refused(`${each.prefix}name`, need(each.map, 'name'), `line ${first} has a step of this name already`);
    lines.set(name, need(each.map, 'name').line);
    read.push(each);
  }
  return read;
}

function readStep<A>(map: YamlValue, index: number, before: string | null, actions: StepActions<A>): ReadStep<A> {
  const numbered = `steps[${index}]`;
  if (map.kind !== 'map') throw refused(numbered, map, 'expected a step with a name and an action');
  const name = nameIn(map, `${numbered}.`);
  if (name === null) throw refused(`${numbered}.name`, map, 'this field is required');
  const prefix = `steps.${name}.`;
  const when = map.fields.get('when');
  const step = {
    name,
    needs: needsIn(map, before, prefix),
    when: when === undefined ? null : textOf(`${prefix}when`, when),
    ...approvalIn(map, prefix),
    action: actions.read(map, STEP_FIELDS, prefix),
  };
  return { step, map, prefix };
}

/** By default a step needs the one before it in the file. */
function needsIn(map: YamlMap, before: string | null, prefix: string): string[] {
  const value = map.fields.get('needs');
  if (value === undefined) return before === null ? [] : [before];
  const named = `${prefix}needs`;
  if (value.kind !== 'list') throw refused(named, value, 'expected a list of steps, as in [patch]');
  const needs: string[] = [];
  for (const item of value.items) {
    const need = textOf(named, item);
    if (needs.includes(need)) throw refused(named, item, `${JSON.stringify(need)} is there twice`);
    needs.push(need);
  }
  return needs;
}

function refuseUnknownNeeds(read: readonly ReadStep<unknown>[]): void {
  const known = new Set(read.map(({ step }) => step.name));
  for (const { step, map, prefix } of read) {
    const index = step.needs.findIndex((need) => !known.has(need));
    if (index < 0) continue;
    const name = step.needs[index] ?? '';
    const hint = didYouMean(name, [...known]);
    throw refused(`${prefix}needs`, itemOf(map, index), `there is no step ${JSON.stringify(name.slice(0, 80))}${hint}`);
  }
}

function refuseCycle(read: readonly ReadStep<unknown>[]): void {
  const cycle = findCycle(read.map(({ step }) => step));
  if (cycle === null) return;
  const [name, next = name] = cycle;
  const found = read.find(({ step }) => step.name === name);
  if (found === undefined) throw new Error(`the step ${name} of a cycle is not in the file`);
  const { step, map, prefix } = found;
  const path = [...cycle, name].join(' needs ');
  throw refused(`${prefix}needs`, itemOf(map, step.needs.indexOf(next)), `the steps wait for each other: ${path}`);
}

/** Where a need is in the file; the step itself where `needs` is not written. */
function itemOf(map: YamlMap, index: number): YamlValue {
  const value = map.fields.get('needs');
  return (value?.kind === 'list' ? value.items[index] : value) ?? map;
}

async function checkExpressions<A>(
  { step, map, prefix }: ReadStep<A>,
  steps: readonly Step<A>[],
  actions: StepActions<A>,
): Promise<void> {
  try {
    if (step.when !== null) await compileStepCondition(step.when, stepsBefore(steps, step.name));
  } catch (thrown) {
    throw thrown instanceof CelRefused ? expressionRefused(`${prefix}when`, need(map, 'when'), thrown) : thrown;
  }
  try {
    await actions.check(step.action);
  } catch (thrown) {
    throw thrown instanceof ActionRefused ? actionRefused(prefix, map, thrown) : thrown;
  }
}
