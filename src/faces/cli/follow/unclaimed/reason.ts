import type { Projected } from '../../../../views/views.ts';

/** Why no daemon continues what a wait is for. */
export interface Reason {
  /** A part of a sentence: `No daemon runs`. */
  readonly why: string;
  /** What an operator does about it; null if it ends by itself. */
  readonly cure: Cure | null;
}

interface Cure {
  readonly text: string;
  /** Null if it depends on how the daemon is started. */
  readonly verb: 'serve' | 'maintenance uncordon' | null;
  readonly flags?: string;
}

/** What is known of the daemons. */
export interface DaemonFacts {
  readonly nodes: readonly Pick<Projected<'node.list'>[number], 'name' | 'state'>[];
  /** The whole service is cordoned, not single daemons of it. */
  readonly isCordoned: boolean;
  /** The names of those that restart in place. */
  readonly restarting: readonly string[];
}

/** A daemon that can continue what a wait is for. */
export interface NeededDaemon {
  /** Its name; null for any. */
  readonly node: string | null;
  /** It has to claim a job, which a cordon forbids; otherwise it only has to be alive. */
  readonly claims: boolean;
}

const LIFT = 'Lift the cordon:';

/** Why there is no such daemon; null if there is one. */
export function reasonOf(
  { nodes, isCordoned, restarting }: DaemonFacts,
  { node, claims }: NeededDaemon,
): Reason | null {
  const alive = nodes.filter(({ state }) => state !== 'gone');
  const [first, ...others] = node === null ? alive : alive.filter(({ name }) => name === node);
  if (alive.length === 0) return { why: 'No daemon runs', cure: { text: 'Start one:', verb: 'serve' } };
  if (first === undefined)
    return { why: `The daemon "${node ?? ''}" does not run`, cure: { text: 'Start it.', verb: null } };
  if (!claims || [first, ...others].some(({ state }) => state === 'running')) return null;
  if (isCordoned) return { why: 'The service is cordoned', cure: { text: LIFT, verb: 'maintenance uncordon' } };
  const starting = [first, ...others].find(({ name }) => restarting.includes(name));
  if (starting !== undefined) return { why: `The daemon "${starting.name}" restarts in place`, cure: null };
  const cure = { text: LIFT, verb: 'maintenance uncordon', flags: ` --node ${first.name}` } as const;
  return { why: others.length === 0 ? `The daemon "${first.name}" is cordoned` : 'Each daemon is cordoned', cure };
}
