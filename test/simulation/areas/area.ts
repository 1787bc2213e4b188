import type { Actor, Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';

/** What is done, how often beside the others, and how it is made. */
export type Maker = readonly [weight: number, make: (chance: Stream) => Made];

/** A call before anything else is done. It must succeed. */
export type SceneCall = readonly [actor: Actor, operation: string, raw: Readonly<Record<string, unknown>>];

/**
 * A query that must have no rows once everything has come to its end, for both stores: PostgreSQL has a json_extract
 * for it, and no names of columns in `having`. `words` says what a row means.
 */
export interface RestRule {
  readonly rule: string;
  readonly sql: string;
  readonly words: (row: Readonly<Record<string, unknown>>) => string;
}

/** What the world knows of an area of the service. */
export interface SimulatedArea {
  /** One plan of as many has it, and the others are faster. Default 1. */
  readonly rarity?: number;
  /** It has jobs of kinds that the oracle has no model of. */
  readonly isUnmodelled?: true;
  /** Texts of files of people, by path, which are there from the beginning. */
  readonly files?: Readonly<Record<string, string>>;
  readonly scene?: readonly SceneCall[];
  /** Calls once the faults are over, after which it begins nothing. They may be refused. */
  readonly atLast?: readonly SceneCall[];
  readonly makers?: readonly Maker[];
  /** As `makers`, of faults. Their share of a plan is the same, however many areas there are. */
  readonly faults?: readonly Maker[];
  /** Where a picked row is in the store, by the name that a Pick has. */
  readonly picks?: Readonly<Record<string, string>>;
  /** A condition of rows that have not come to their end, by table. */
  readonly unfinished?: Readonly<Record<string, string>>;
  readonly atRest?: readonly RestRule[];
}
