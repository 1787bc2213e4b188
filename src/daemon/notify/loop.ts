import type { LoopRow } from '../core/loop.ts';
import { NOTIFY_EVERY_MS, type Notifier } from './send.ts';

export interface NotificationLoopDeps {
  readonly notifier: Notifier;
}

export const notificationLoop: LoopRow<NotificationLoopDeps> = {
  name: 'page',
  everyMs: NOTIFY_EVERY_MS,
  wakeOn: ['after-request', 'notification-due'],
  once: async ({ notifier }, signal) => ({ dueMs: await notifier.sweepOnce(signal) }),
  // What is under way is recorded before the store closes: else it would be sent again.
  settled: ({ notifier }) => notifier.settled(),
};
