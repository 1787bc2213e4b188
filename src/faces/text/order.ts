import {
  howRuns,
  whatFailedBefore,
  whatItTouches,
  whatRuns,
  whatTheSenderSays,
  whereRuns,
  whichAlert,
  whichStep,
} from '../../domain/jobs/order-words.ts';
import type { Projected } from '../../views/views.ts';

type Entry = readonly [name: string, value: string | null];

/** What is ordered, as a person decides: what and where, because of what, and what it may touch. */
interface OrderEntries {
  readonly what: readonly Entry[];
  readonly cause: readonly Entry[];
  readonly reach: readonly Entry[];
}

export function orderEntries(order: Projected<'order'>): OrderEntries {
  return {
    what: [
      ['Runs', whatRuns(order)],
      ['On', whereRuns(order)],
      ['With', howRuns(order)],
    ],
    cause: [
      ['Alert', whichAlert(order)],
      ['Its sender says', whatTheSenderSays(order)],
      ['Step', whichStep(order)],
      ['Failed before', whatFailedBefore(order)],
    ],
    reach: [
      ['May touch', whatItTouches(order)],
      ['Time limit', order.timeout],
    ],
  };
}
