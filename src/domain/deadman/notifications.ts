import { formatDuration } from '../duration.ts';
import { type NotificationRow, PLAIN } from '../notify/row.ts';

/** A watch fell silent, or is heard again. */
interface WatchFacts {
  readonly name: string;
  readonly webhook: string;
  readonly everyMs: number;
  readonly heard: boolean;
}

const deadman: NotificationRow<WatchFacts> = {
  ...PLAIN,
  words: (facts, { baseUrl }) =>
    facts.heard
      ? {
          title: `${facts.name} is heard again`,
          message: `Webhook ${facts.webhook} got a message.`,
          priority: 3,
          tags: ['white_check_mark'],
          click: `${baseUrl}/events`,
        }
      : {
          title: `${facts.name} is silent`,
          message: `Webhook ${facts.webhook} got no message for ${formatDuration(facts.everyMs)}.`,
          priority: 5,
          tags: ['skull'],
          click: `${baseUrl}/events`,
        },
  terse: (facts) => (facts.heard ? 'svc: a watch is heard again' : 'svc: a watch is silent'),
};

export const DEADMAN_NOTIFICATIONS = { deadman };
