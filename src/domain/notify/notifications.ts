import { type NotificationRow, PLAIN } from './row.ts';

const test: NotificationRow<{ readonly by: string }> = {
  ...PLAIN,
  words: (facts, { baseUrl }) => ({
    title: 'Test notification',
    message: `Requested by ${facts.by}. Notifications arrive here.`,
    priority: 3,
    tags: ['wave'],
    click: `${baseUrl}/devices`,
  }),
  terse: () => 'svc: test notification',
};

export const TEST_NOTIFICATIONS = { test };
