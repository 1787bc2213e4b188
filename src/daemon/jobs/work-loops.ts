import type { MakeLoop } from '../core/loop.ts';
import type { Work } from './work.ts';

interface WorkLoopDeps {
  readonly work: Work;
}

/** The fallback where no wake-up arrives, in milliseconds. */
const CLAIM_EVERY_MS = 1_000;
const CANCEL_EVERY_MS = 1_000;

export const claimLoop: MakeLoop<WorkLoopDeps> = ({ work }) => ({
  name: 'claim',
  everyMs: CLAIM_EVERY_MS,
  wakeOn: ['request', 'slot-free'],
  restsWithoutCommits: true,
  once: () => work.claimOnce(),
});

export const cancelLoop: MakeLoop<WorkLoopDeps> = ({ work }) => ({
  name: 'cancel',
  everyMs: CANCEL_EVERY_MS,
  wakeOn: ['request'],
  restsWithoutCommits: true,
  once: () => work.cancelOnce(),
});
