import type { LoopRow } from '../core/loop.ts';
import { PAGE_EVERY_MS, type Pager } from './send.ts';

export interface NotificationLoopDeps {
  readonly pager: Pager;
}

export const notificationLoop: LoopRow<NotificationLoopDeps> = {
  name: 'page',
  everyMs: PAGE_EVERY_MS,
  wakeOn: ['after-request', 'notification-due'],
  once: async ({ pager }, signal) => ({ dueMs: await pager.sweepOnce(signal) }),
  // What is under way is recorded before the store closes: else it would be sent again.
  settled: ({ pager }) => pager.settled(),
};
