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
  // Record running sends before the store closes; otherwise they would be sent again.
  settled: ({ notifier }) => notifier.settled(),
};
