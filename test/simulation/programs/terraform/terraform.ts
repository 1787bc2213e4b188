/** A terraform without providers: it plans and makes things by chance, and writes states and plans as the real one. */
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stream } from '../../world/chance.ts';
import { theWorld } from '../../world/current.ts';
import type { Program, Started, Steps } from '../program.ts';
import { theInfrastructure } from './infrastructure.ts';
import { type Change, type Content, type Planned, planBytes, planJson, readContent, stateBytes } from './plans.ts';

const STATE = 'terraform.tfstate';
const ERRORED_STATE = 'errored.tfstate';
const NAMES = ['a', 'b', 'c', 'd'];

/** The chance of each fault. */
const FAILS = { init: 0.02, plan: 0.05, change: 0.15, hang: 0.03, torn: 0.1, errored: 0.03, printed: 0.03 };
/** Of a step, at most. */
const STEP_MS = 300;
const HANG_MS = 400_000;

type Verb = (started: Started, words: readonly string[]) => Steps;

const VERBS: Readonly<Record<string, Verb>> = { init, plan, show, apply };

export const TERRAFORM: Program = {
  // It ends what it has begun, and writes the state.
  isDeaf: true,
  *run(started) {
    const [, verb = '', ...words] = started.process.argv;
    const steps = VERBS[verb];
    if (steps === undefined) throw new Error(`the simulated terraform has no ${verb}`);
    try {
      return yield* steps(started, words);
    } catch (error) {
      // The directory of the run is gone.
      started.warn(`Error: ${(error as NodeJS.ErrnoException).code ?? String(error)}\n`);
      return 1;
    }
  },
};

function* init({ chance, process }: Started): Steps {
  yield chance.whole(1, STEP_MS);
  return process.isTermed || chance.chance(FAILS.init) ? 1 : 0;
}

function* plan({ chance, cwd, print, process }: Started, words: readonly string[]): Steps {
  const state = readState(cwd);
  yield chance.chance(FAILS.hang) ? chance.whole(1, HANG_MS) : chance.whole(1, STEP_MS);
  if (process.isTermed || chance.chance(FAILS.plan)) return 1;
  const changes = changesOf(chance, state?.content ?? null, words.includes('-destroy'));
  const { serial = 0, lineage = '' } = state?.content ?? {};
  const planned: Planned = { serial, lineage, changes, mark: chance.bytes(8).toString('hex') };
  const bytes = planBytes(planned);
  writeFile(fileIn(words, '-out='), bytes);
  theInfrastructure().keepPlan(bytes, planned);
  print(`Plan: ${Object.keys(changes).length} to change\n`);
  yield chance.whole(1, STEP_MS);
  return 0;
}

function* show({ chance, print }: Started, words: readonly string[]): Steps {
  const planned = theInfrastructure().planIn(readFileSync(words.at(-1) ?? ''));
  yield chance.whole(1, STEP_MS);
  if (planned === undefined) return 1;
  print(planJson(planned));
  return 0;
}

function* apply(started: Started, words: readonly string[]): Steps {
  const { chance, cwd, print, process, warn } = started;
  const [file, state] = [readFileSync(words.at(-1) ?? ''), readState(cwd)];
  const planned = theInfrastructure().planIn(file);
  theInfrastructure().begins(process, file, state?.bytes ?? null);
  yield chance.whole(1, STEP_MS);
  const { serial = 0, lineage = '' } = state?.content ?? {};
  if (planned === undefined || planned.serial !== serial || planned.lineage !== lineage) {
    warn('Error: Saved plan is stale\n');
    return 1;
  }
  let content: Content = {
    serial,
    lineage: lineage === '' ? chance.bytes(16).toString('hex') : lineage,
    resources: state?.content.resources ?? {},
  };
  for (const [name, change] of Object.entries(planned.changes)) {
    if (chance.chance(FAILS.hang)) yield chance.whole(1, HANG_MS);
    yield chance.whole(1, STEP_MS);
    if (process.isTermed || chance.chance(FAILS.change)) return yield* end(started, content, 1);
    content = { ...content, serial: content.serial + 1, resources: changed(content.resources, name, change) };
    print(`${change} ${name}\n`);
    // Written while it works, as the real one does.
    if (chance.chance(0.5)) yield* writeState(started, content);
  }
  return yield* end(started, content, 0);
}

/** Writes the last state where that can be written. */
function* end(started: Started, content: Content, exitCode: number): Steps {
  const { chance, cwd, process, warn } = started;
  const bytes = stateBytes(content);
  if (readState(cwd)?.bytes.equals(bytes) === true || content.serial === 0) return exitCode;
  if (chance.chance(FAILS.errored)) {
    writeFile(join(cwd, ERRORED_STATE), bytes);
    theInfrastructure().leaves(process, { bytes, content });
    return 1;
  }
  if (chance.chance(FAILS.printed)) {
    // A daemon that dies does not read it.
    theInfrastructure().leaves(process, null);
    warn(bytes.toString());
    return 1;
  }
  yield* writeState(started, content);
  return exitCode;
}

/** In place, as the real one does: half of it may be there for a moment. */
function* writeState({ chance, cwd, process }: Started, content: Content): Generator<number, void, void> {
  const bytes = stateBytes(content);
  if (chance.chance(FAILS.torn)) {
    writeFile(join(cwd, STATE), bytes.subarray(0, bytes.length / 2));
    theInfrastructure().leaves(process, null);
    yield chance.whole(1, STEP_MS);
  }
  writeFile(join(cwd, STATE), bytes);
  theInfrastructure().leaves(process, { bytes, content });
}

function readState(cwd: string): { readonly bytes: Buffer; readonly content: Content } | null {
  if (!existsSync(join(cwd, STATE))) return null;
  const bytes = readFileSync(join(cwd, STATE));
  const content = readContent(bytes);
  return content === null ? null : { bytes, content };
}

/** With the time of the world: what is read of a file tells one version from another by it. */
function writeFile(path: string, bytes: Buffer): void {
  writeFileSync(path, bytes, { mode: 0o600 });
  const seconds = theWorld().now / 1_000;
  utimesSync(path, seconds, seconds);
}

function changesOf(chance: Stream, before: Content | null, destroys: boolean): Record<string, Change> {
  const changes: Record<string, Change> = {};
  for (const name of NAMES) {
    const isThere = before !== null && Object.hasOwn(before.resources, name);
    if (destroys && isThere) changes[name] = 'delete';
    if (destroys || !chance.chance(0.4)) continue;
    changes[name] = isThere ? chance.pick(['update', 'update', 'delete'] as const) : 'create';
  }
  return changes;
}

function changed(resources: Content['resources'], name: string, change: Change): Content['resources'] {
  const { [name]: before = 0, ...others } = resources;
  return change === 'delete' ? others : { ...others, [name]: before + 1 };
}

function fileIn(words: readonly string[], flag: string): string {
  return words.find((word) => word.startsWith(flag))?.slice(flag.length) ?? '';
}
