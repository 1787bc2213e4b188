/** What is done to a world, as data: a plan can be cut down, and kept when the generator changes. */
import type { TargetState } from '../network/targets.ts';
import type { DiskFault } from '../world/host.ts';

export interface Plan {
  /** Of the choices that are not in the plan: the order of steps, late timers, lost messages. */
  readonly seed: number;
  readonly daemons: number;
  /** Names of the areas that it has and others have not. */
  readonly parts: readonly string[];
  readonly actions: readonly Action[];
  /** Whether daemons are killed at steps and commits by chance, too. */
  readonly chanceKills: boolean;
}

/** One of those that are known when the action is done, by its share of the list: 0 is the oldest. */
export interface Pick {
  /** A name in the column `picks` of an area. */
  readonly of: string;
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
  /** A sender sends these to a webhook, until they are accepted. */
  | { readonly do: 'deliver'; readonly hook: string; readonly alerts: readonly Alert[] }
  /** Somebody comes in with one of the tokens that were made. */
  | { readonly do: 'enter'; readonly at: number }
  /** Somebody opens one of the decision links that were given out, and uses it as `how` says. */
  | { readonly do: 'link'; readonly at: number; readonly how: LinkUse }
  /** Somebody signs in to the console, or does something in one of the sessions that were opened. */
  | { readonly do: 'browse'; readonly at: number; readonly what: Browsing }
  /** An approval that is pending is decided in the moment of its deadline. */
  | { readonly do: 'decide-late'; readonly at: number; readonly decision: 'approve' | 'reject' }
  /** A ref of the repository moves or is removed, or its server is lost. */
  | { readonly do: 'git'; readonly what: 'push' | 'drop'; readonly ref: string }
  | { readonly do: 'git'; readonly what: 'release' | 'sync' }
  | { readonly do: 'git'; readonly what: 'lose'; readonly forMs: number }
  | { readonly do: 'target'; readonly target: string; readonly state: TargetState; readonly forMs: number }
  | { readonly do: 'kill'; readonly host: number; readonly backMs: number }
  /** The power of the machine is lost in the next commit, of whose bytes this share is on the disk. */
  | { readonly do: 'power'; readonly there: number; readonly backMs: number }
  /** It is asked to stop, and ends in order. */
  | { readonly do: 'terminate'; readonly host: number; readonly backMs: number }
  /** A new program is there, and its daemon is asked to restart in place. */
  | { readonly do: 'install'; readonly host: number; readonly force: boolean }
  | { readonly do: 'stop'; readonly host: number; readonly forMs: number }
  | { readonly do: 'disk'; readonly fault: DiskFault; readonly forMs: number }
  | { readonly do: 'jump'; readonly byMs: number }
);

/** `tap`: a button without the page. `late`: the page is opened, and its form sent in the moment of the deadline. */
export type LinkUse = 'look' | 'form' | 'tap' | 'late';

export type Browsing = 'sign-in' | 'look' | 'approve' | 'reject' | 'sign-out';

/** As Alertmanager sends it. */
export interface Alert {
  readonly status: 'firing' | 'resolved';
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
}

export type Actor = 'operator' | 'decider' | 'reader' | 'host' | 'local' | 'neighbour';

/** As a maker makes it; when is drawn for all. */
export type Made = Action extends infer A ? (A extends unknown ? Omit<A, 'afterMs'> : never) : never;
