import type { Store } from '../../store/store.ts';
import type { LoopRow, MakeLoop, WakeUp } from '../core/loop.ts';

interface AdoptionDeps {
  readonly store: Pick<Store, 'adoption'>;
  /** Tags the orders of earlier builds once none of their daemons runs; whether that is over. */
  readonly adopt: () => Promise<boolean>;
  readonly wakeUp: (why: WakeUp) => void;
}

/** How long jobs of an earlier build wait after its last daemon has gone, in milliseconds. */
const ADOPTION_EVERY_MS = 10_000;

/** On a shared database, after an upgrade while daemons of the earlier build were running. */
export const adoptionLoop: MakeLoop<AdoptionDeps, LoopRow | null> = ({ store, adopt, wakeUp }) =>
  store.adoption.isKnownOver
    ? null
    : {
        name: 'adoption',
        everyMs: ADOPTION_EVERY_MS,
        wakeOn: ['daemon-died'],
        async once() {
          if (!store.adoption.isKnownOver && (await adopt())) wakeUp('request');
        },
      };
