/** What the checks of a world probe: each target is up, refuses, or never answers. */
import { pause } from '../../../src/lib/clock.ts';
import { running, theWorld } from '../world/current.ts';
import type { Running } from '../world/host.ts';

export type TargetState = 'up' | 'refuses' | 'silent';

/** Longer than a probe may take. */
const SILENT_MS = 60_000;
/** To the answer of one that answers. */
const ANSWER_MS = 800;

let current: Targets | null = null;

export function theTargets(): Targets {
  if (current === null) throw new Error('there are no targets');
  return current;
}

/** What one probe saw. */
export interface Probed {
  readonly up: boolean;
  /** The daemon that asked. */
  readonly by: Running | null;
}

export class Targets {
  /** Those that are not up, by address and port, and until when. */
  readonly #down = new Map<string, { readonly state: TargetState; readonly until: number }>();
  /** By address and port, oldest first. */
  readonly #probed = new Map<string, Probed[]>();

  static open(): Targets {
    current = new Targets();
    return current;
  }

  set(target: string, state: TargetState, forMs: number): void {
    this.#down.set(target, { state, until: theWorld().now + forMs });
  }

  allUp(): void {
    this.#down.clear();
  }

  /** All that were ever asked. */
  probesOf(target: string): readonly Probed[] {
    return this.#probed.get(target) ?? [];
  }

  /** A connection; rejects as one that was refused. */
  async connect(target: string): Promise<void> {
    const world = theWorld();
    const clock = world.clock();
    const state = this.#stateOf(target);
    this.#probed.set(target, [...this.probesOf(target), { up: state === 'up', by: running() }]);
    await pause(clock, state === 'silent' ? SILENT_MS : world.chance.of('probes').whole(1, ANSWER_MS));
    world.note(`${target} ${state}`);
    if (state === 'refuses') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  }

  #stateOf(target: string): TargetState {
    const down = this.#down.get(target);
    return down === undefined || down.until <= theWorld().now ? 'up' : down.state;
  }
}
