/**
 * Judges what arrived at a receiver of pages while daemons were killed:
 *
 * F20 no page is lost; a kill repeats one page at most, under the id that it had; one end is one page, also where two
 * reasons ask for it; and so is one request, however many daemons find it.
 */

export interface Arrival {
  readonly notificationId: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A page as the store has it at the end. */
export interface FinalPage {
  readonly id: string;
  readonly topic: string;
  /** Why it was not sent on its own; null for one that was to be sent. */
  readonly reason: string | null;
}

export interface NotificationHistory {
  /** Jobs that were armed, and failed or were killed. */
  readonly jobs: readonly string[];
  /** Approvals that were asked for. */
  readonly asked: readonly string[];
  /** Those of them that were decided after people were told of them. */
  readonly decided: readonly string[];
  readonly pages: readonly FinalPage[];
  readonly arrivals: readonly Arrival[];
  /** When each killed daemon was gone, in milliseconds since the epoch. */
  readonly killedAt: readonly number[];
}

export interface NotificationViolation {
  readonly rule: 'lost' | 'doubled' | 'two pages';
  readonly what: string;
}

/** What a daemon sent right before it was killed may be read by the receiver a little after it is gone. */
const READ_LATE_MS = 250;
/** How a page says that another one spoke for it. */
const SENT_WITH = /^sent with (page_[0-9a-z]{26})$/;

export function checkNotifications(history: NotificationHistory): NotificationViolation[] {
  return [
    ...untold(history),
    ...toldTwice(history),
    ...askedTwice(history),
    ...unsentNotifications(history),
    ...unexplainedRepeats(history),
  ];
}

/** How often a page arrived that had arrived before. */
export function countRepeats({ arrivals }: NotificationHistory): number {
  return arrivals.length - new Set(arrivals.map(({ notificationId }) => notificationId)).size;
}

function toldTwice({ jobs, arrivals }: NotificationHistory): NotificationViolation[] {
  return jobs.flatMap((job): NotificationViolation[] => {
    const ids = new Set(
      arrivals.filter(({ message }) => message.includes(job)).map(({ notificationId }) => notificationId),
    );
    return ids.size <= 1
      ? []
      : [{ rule: 'two pages', what: `the end of ${job} was told as ${[...ids].join(' and ')}` }];
  });
}

/** A request is told by its own page or by one that speaks for several, which has the topic of the oldest of them. */
function askedTwice({ asked, pages, arrivals }: NotificationHistory): NotificationViolation[] {
  const byTopic = new Map(pages.map((page) => [page.topic, page]));
  const arrived = new Set(arrivals.map(({ notificationId }) => notificationId));
  return asked.flatMap((id): NotificationViolation[] => {
    const own = byTopic.get(`approval:${id}`);
    const all = [own?.id, SENT_WITH.exec(own?.reason ?? '')?.[1], byTopic.get(`approvals:${id}`)?.id];
    const answer = new Set(all.filter((each) => each !== undefined && arrived.has(each)));
    return answer.size <= 1
      ? []
      : [{ rule: 'two pages', what: `the request ${id} was told as ${[...answer].join(' and ')}` }];
  });
}

/** By the page about it, or by the one that spoke for that. */
function untold({ jobs, asked, decided, pages, arrivals }: NotificationHistory): NotificationViolation[] {
  const byTopic = new Map(pages.map((page) => [page.topic, page]));
  const arrived = new Set(arrivals.map(({ notificationId }) => notificationId));
  const isTold = (topic: string): boolean => {
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
    .filter((topic) => !isTold(topic))
    .map((topic) => ({ rule: 'lost', what: `nobody was told of ${topic}` }));
}

/** Whatever it is about: what the store has as a page to be sent has arrived. */
function unsentNotifications({ pages, arrivals }: NotificationHistory): NotificationViolation[] {
  const arrived = new Set(arrivals.map(({ notificationId }) => notificationId));
  return pages
    .filter(({ id, reason }) => reason === null && !arrived.has(id))
    .map(({ id, topic }) => ({ rule: 'lost', what: `${id} about ${topic} never arrived` }));
}

/** Each repeat needs a kill of its own between the two arrivals; what ends first takes the first that is left. */
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
    else found.push({ rule: 'doubled', what: `${notificationId} arrived again and no kill of its own explains it` });
  }
  return found;
}
