/**
 * Checks what arrived at a receiver of notifications while daemons were killed:
 *
 * F20 no notification is lost; a kill repeats at most one, under the same id; one end is one notification, also for
 * two reasons; and so is one request, however many daemons find it.
 */

export interface Arrival {
  readonly notificationId: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A notification in the store at the end. */
export interface FinalPage {
  readonly id: string;
  readonly topic: string;
  /** Why it was not sent on its own; null for one that was to be sent. */
  readonly reason: string | null;
}

/** Its delivery at the end. */
export interface FinalDelivery {
  readonly notificationId: string;
  readonly state: string;
  readonly attempts: number;
  /** When it is to be tried again, in milliseconds since the epoch. */
  readonly nextAt: number;
  readonly failure: string | null;
}

export interface NotificationHistory {
  /** Jobs that were armed, and failed or were killed. */
  readonly jobs: readonly string[];
  /** Approvals that were asked for. */
  readonly asked: readonly string[];
  /** Those of them that were decided after they were notified. */
  readonly decided: readonly string[];
  readonly pages: readonly FinalPage[];
  readonly deliveries: readonly FinalDelivery[];
  readonly arrivals: readonly Arrival[];
  /** When each killed daemon was gone, in milliseconds since the epoch. */
  readonly killedAt: readonly number[];
}

export interface NotificationViolation {
  readonly rule: 'lost' | 'doubled' | 'two notifications';
  readonly what: string;
}

/** What a daemon sent right before it was killed may be read by the receiver a little after it is gone. */
const READ_LATE_MS = 250;
/** The reason of a notification that another one included. */
const SENT_WITH = /^sent with (page_[0-9a-z]{26})$/;

export function checkNotifications(history: NotificationHistory): NotificationViolation[] {
  return [
    ...unannounced(history),
    ...announcedTwice(history),
    ...askedTwice(history),
    ...unsentNotifications(history),
    ...unexplainedRepeats(history),
  ];
}

/** How often a notification arrived that had arrived before. */
export function countRepeats({ arrivals }: NotificationHistory): number {
  return arrivals.length - new Set(arrivals.map(({ notificationId }) => notificationId)).size;
}

function announcedTwice({ jobs, arrivals }: NotificationHistory): NotificationViolation[] {
  return jobs.flatMap((job): NotificationViolation[] => {
    const ids = new Set(
      arrivals.filter(({ message }) => message.includes(job)).map(({ notificationId }) => notificationId),
    );
    return ids.size <= 1
      ? []
      : [{ rule: 'two notifications', what: `the end of ${job} was notified as ${[...ids].join(' and ')}` }];
  });
}

/** A request has a separate notification or is in one for several, which has the topic of the oldest of them. */
function askedTwice({ asked, pages, arrivals }: NotificationHistory): NotificationViolation[] {
  const byTopic = new Map(pages.map((page) => [page.topic, page]));
  const arrived = new Set(arrivals.map(({ notificationId }) => notificationId));
  return asked.flatMap((id): NotificationViolation[] => {
    const own = byTopic.get(`approval:${id}`);
    const all = [own?.id, SENT_WITH.exec(own?.reason ?? '')?.[1], byTopic.get(`approvals:${id}`)?.id];
    const answer = new Set(all.filter((each) => each !== undefined && arrived.has(each)));
    return answer.size <= 1
      ? []
      : [{ rule: 'two notifications', what: `the request ${id} was notified as ${[...answer].join(' and ')}` }];
  });
}

/** Announced means: its own notification arrived, or the one that included it. */
function unannounced({ jobs, asked, decided, pages, arrivals }: NotificationHistory): NotificationViolation[] {
  const byTopic = new Map(pages.map((page) => [page.topic, page]));
  const arrived = new Set(arrivals.map(({ notificationId }) => notificationId));
  const isAnnounced = (topic: string): boolean => {
    const page = byTopic.get(topic);
    const by = SENT_WITH.exec(page?.reason ?? '')?.[1] ?? page?.id;
    return by !== undefined && arrived.has(by);
  };
  const topics = [
    ...jobs.map((id) => `job:${id}`),
    ...asked.map((id) => `approval:${id}`),
    ...decided.map((id) => `decided:${id}`),
  ];
  return topics
    .filter((topic) => !isAnnounced(topic))
    .map((topic) => ({ rule: 'lost', what: `no notification of ${topic} arrived` }));
}

/** Every notification that the store has as one to be sent has arrived, whatever its topic. */
function unsentNotifications({ pages, deliveries, arrivals }: NotificationHistory): NotificationViolation[] {
  const arrived = new Set(arrivals.map(({ notificationId }) => notificationId));
  return pages
    .filter(({ id, reason }) => reason === null && !arrived.has(id))
    .map(({ id, topic }) => ({
      rule: 'lost',
      what: `${id} about ${topic} never arrived: ${describe(deliveries, id)}`,
    }));
}

function describe(deliveries: readonly FinalDelivery[], id: string): string {
  const own = deliveries.filter(({ notificationId }) => notificationId === id);
  const texts = own.map(
    ({ state, attempts, nextAt, failure }) =>
      `${state} after ${attempts} failed attempts (${failure ?? 'no failure'}), next ${new Date(nextAt).toISOString()}`,
  );
  return texts.join('; ') || 'it has no delivery';
}

/** Each repeat needs a separate kill between the two arrivals; the earliest repeat takes the earliest kill left. */
function unexplainedRepeats({ arrivals, killedAt }: NotificationHistory): NotificationViolation[] {
  const before = new Map<string, number>();
  const kills = killedAt.toSorted((a, b) => a - b);
  const found: NotificationViolation[] = [];
  for (const { notificationId, at } of arrivals.toSorted((a, b) => a.at - b.at)) {
    const first = before.get(notificationId);
    before.set(notificationId, at);
    if (first === undefined) continue;
    const index = kills.findIndex((kill) => kill >= first - READ_LATE_MS && kill <= at);
    if (index >= 0) kills.splice(index, 1);
    else found.push({ rule: 'doubled', what: `${notificationId} arrived again and no separate kill explains it` });
  }
  return found;
}
