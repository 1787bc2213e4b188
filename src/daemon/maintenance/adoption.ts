import type { Store } from '../../store/store.ts';
import type { LoopRow, WakeUp } from '../core/loop.ts';

export interface AdoptionDeps {
  readonly store: Pick<Store, 'adoption'>;
  /** Tags the orders of earlier builds once none of their daemons runs; whether that is over. */
  readonly adopt: () => Promise<boolean>;
  readonly wakeUp: (why: WakeUp) => void;
}

/** How long jobs of an earlier build wait after its last daemon has gone, in milliseconds. */
const ADOPTION_EVERY_MS = 10_000;

/** On a shared database, after an upgrade while daemons of the earlier build were running. */
export const adoptionLoop: LoopRow<AdoptionDeps> = {
  name: 'adoption',
  everyMs: ADOPTION_EVERY_MS,
  wakeOn: ['daemon-died'],
  runs: ({ store }) => !store.adoption.isKnownOver,
  async once({ store, adopt, wakeUp }) {
    if (!store.adoption.isKnownOver && (await adopt())) wakeUp('request');
  },
};
