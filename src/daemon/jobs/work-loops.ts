import type { LoopRow } from '../core/loop.ts';
import type { Work } from './work.ts';

export interface WorkLoopDeps {
  readonly work: Work;
}

/** The fallback where no wake-up arrives, in milliseconds. */
const CLAIM_EVERY_MS = 1_000;
const CANCEL_EVERY_MS = 1_000;

export const claimLoop: LoopRow<WorkLoopDeps> = {
  name: 'claim',
  everyMs: CLAIM_EVERY_MS,
  wakeOn: ['request', 'slot-free'],
  restsWithoutCommits: true,
  once: ({ work }) => work.claimOnce(),
};

export const cancelLoop: LoopRow<WorkLoopDeps> = {
  name: 'cancel',
  everyMs: CANCEL_EVERY_MS,
  wakeOn: ['request'],
  restsWithoutCommits: true,
  once: ({ work }) => work.cancelOnce(),
};
