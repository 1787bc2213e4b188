/** What is done to a world, as data: a plan can be cut down, and kept when the generator changes. */
import { Chance, type Stream } from '../world/chance.ts';
import type { DiskFault } from '../world/host.ts';

export interface Plan {
  /** Of the choices that are not in the plan: the order of steps, late timers, lost messages. */
  readonly seed: number;
  readonly daemons: number;
  readonly actions: readonly Action[];
  /** Whether daemons are killed at steps and commits by chance, too. */
  readonly chanceKills: boolean;
}

/** One of those that are known when the action is done, by its share of the list: 0 is the oldest. */
export interface Pick {
  /** `gated`: a job that a rule asked for, and that needed an approval. */
  readonly of: 'job' | 'gated' | 'approval' | 'run';
  readonly at: number;
}

/** Done `afterMs` after the one before it. */
export type Action = { readonly afterMs: number } & (
  | {
      readonly do: 'call';
      readonly as: Actor;
      readonly operation: string;
      /** The value of a field may be a Pick. */
      readonly raw: Readonly<Record<string, unknown>>;
      /** Where one is there, another call may repeat it. */
      readonly key?: string;
    }
  /** The last call with a key again, as a client does that had no answer. */
  | { readonly do: 'repeat' }
  | { readonly do: 'kill'; readonly host: number; readonly backMs: number }
  | { readonly do: 'stop'; readonly host: number; readonly forMs: number }
  | { readonly do: 'disk'; readonly fault: DiskFault; readonly forMs: number }
  | { readonly do: 'jump'; readonly byMs: number }
);

export type Actor = 'operator' | 'decider' | 'reader' | 'local';

type Made = Action extends infer A ? (A extends unknown ? Omit<A, 'afterMs'> : never) : never;

const TOOLS = ['succeeds', 'succeeds', 'fails', 'hangs', 'deaf', 'floods'];
/** From a correction of the clock to a machine that was an hour wrong. */
const JUMPS_MS = [-90_000, -1_000, 1_000, 30_000, 3_600_000];

/** What is done, how often, and how it is made. */
const MAKERS: readonly (readonly [weight: number, make: (chance: Stream) => Made])[] = [
  [6, (chance) => command(chance)],
  [4, (chance) => call('operator', 'workflow.run', { name: 'gated' }, keyOf(chance))],
  [7, (chance) => decision(chance)],
  [3, (chance) => call('operator', 'job.cancel', { id: some(chance, 'job') })],
  [2, (chance) => call('operator', 'job.redrive', { ids: [some(chance, 'job')] }, keyOf(chance))],
  // All of them: some were queued again before.
  [1, (chance) => call('operator', 'job.redrive', { state: ['interrupted', 'cancelled'] }, keyOf(chance))],
  [2, (chance) => call('operator', 'job.rerun', { id: some(chance, 'job') }, keyOf(chance))],
  [1, (chance) => call('operator', 'job.rerun', { id: some(chance, 'gated') }, keyOf(chance))],
  [1, (chance) => call('operator', 'workflow.cancel', { run: some(chance, 'run') })],
  [2, () => ({ do: 'repeat' })],
  [1, () => call('reader', 'job.list', {})],
  [1, () => call('reader', 'command.run', { inventory: 'localhost', command: ['succeeds'] })],
  [1, () => call('local', 'maintenance.cordon', {})],
  [1, () => call('local', 'maintenance.uncordon', {})],
  [2, (chance) => ({ do: 'kill', host: chance.next(), backMs: chance.whole(0, 8_000) })],
  [1, (chance) => ({ do: 'stop', host: chance.next(), forMs: chance.whole(10, 20_000) })],
  [1, (chance) => ({ do: 'disk', fault: chance.pick(['full', 'broken'] as const), forMs: chance.whole(10, 5_000) })],
  [1, (chance) => ({ do: 'jump', byMs: chance.pick(JUMPS_MS) })],
];

const BAG = MAKERS.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));

export function makePlan(seed: number, { daemons, actions }: { daemons: number; actions: number }): Plan {
  const chance = new Chance(seed).of('plan');
  const next = (): Action => ({
    // Half of them come at once, in the middle of what is under way.
    afterMs: chance.chance(0.5) ? 0 : chance.whole(1, 6_000),
    ...chance.pick(BAG)(chance),
  });
  return { seed, daemons, actions: Array.from({ length: actions }, next), chanceKills: true };
}

function call(as: Actor, operation: string, raw: Readonly<Record<string, unknown>>, key?: string): Made {
  return { do: 'call', as, operation, raw, ...(key === undefined ? {} : { key }) };
}

function command(chance: Stream): Made {
  const key = keyOf(chance);
  // With its key as an argument, so that the rules can tell of each job which request asked for it.
  return call('operator', 'command.run', { inventory: 'localhost', command: [chance.pick(TOOLS), key] }, key);
}

function decision(chance: Stream): Made {
  const raw = { id: some(chance, 'approval'), decision: chance.pick(['approve', 'approve', 'reject']) };
  return call(chance.pick(['decider', 'decider', 'decider', 'operator'] as const), 'approval.decision', raw);
}

function keyOf(chance: Stream): string {
  return `key-${chance.whole(0, 1e9)}`;
}

function some(chance: Stream, of: Pick['of']): Pick {
  return { of, at: chance.next() };
}
