/**
 * Daemons are killed at the points of sending pages: between a send and its record, between the record and the next
 * send, and while pages are collected. Used in a short form by `npm test` and in a long one by `npm run chaos`.
 */
import { join } from 'node:path';
import { TERMINAL, until } from '../../support/api-client.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import type { StartingDaemon } from '../../support/daemon.ts';
import { openReceiver, type Receiver } from '../../support/notify/receiver.ts';
import { type Ending, openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import {
  checkNotifications,
  countRepeats,
  type NotificationHistory,
  type NotificationViolation,
} from './notification-history.ts';
import { seeded, type Seeded } from '../../support/seeded.ts';

export interface NotificationKillOptions {
  readonly postgres: boolean;
  readonly daemons: number;
  readonly kills: number;
  readonly seed: number;
}

/** `quiet`: no page came to kill at. */
type Point = 'unanswered' | 'answered' | 'collecting' | 'quiet';

export interface NotificationKillFigures {
  readonly kills: Readonly<Record<Point, number>>;
  readonly jobs: number;
  readonly approvals: number;
  readonly decisions: number;
  /** Pages that arrived, each counted once. */
  readonly pages: number;
  readonly doubled: number;
  readonly msPerKill: number;
}

export interface NotificationKillResult {
  readonly violations: readonly NotificationViolation[];
  readonly figures: NotificationKillFigures;
}

const POINTS = ['unanswered', 'answered', 'collecting'] as const;
const LEASE = '2s';
/** From an answer to the kill at most: the record is written, and the next page sent, within some milliseconds. */
const AFTER_ANSWER_MS = 12;
/** From the cause of a notification to the kill at most: the passes of the notifier are at most 50 ms apart. */
const AFTER_ASK_MS = 90;
/** The share of kills at a page that let one page by and take the next, which is sent right after a record. */
const SECOND_SHARE = 0.3;
/** If no notification comes within this time, such as for a request that is sent with others, the kill comes anyway. */
const QUIET_MS = 1_500;
/** Requests that are sent together may wait for a minute. */
const SETTLE_LIMIT_MS = 150_000;
/** Beyond that, what failed is waited for until its next attempt, and this long for the attempt itself. */
const ATTEMPT_MS = 30_000;
/** The attempts of a notification take some 10 minutes; then it is given up, which is reported as lost. */
const ATTEMPTS_LIMIT_MS = 900_000;

/** One place for a daemon: killed and filled again. */
class Seat {
  daemon: StartingDaemon;
  readonly #spawn: () => StartingDaemon;

  constructor(spawn: () => StartingDaemon) {
    this.#spawn = spawn;
    this.daemon = spawn();
  }

  async kill(): Promise<void> {
    await this.daemon.kill();
  }

  begin(): void {
    this.daemon = this.#spawn();
  }
}

interface Run {
  readonly fixture: Fixture;
  readonly receiver: Receiver;
  readonly chance: Seeded;
  readonly seats: readonly Seat[];
  readonly jobs: string[];
  readonly asked: string[];
  readonly decided: string[];
  readonly kills: { readonly point: Point; readonly at: number }[];
}

export async function runNotificationKills(
  ending: Ending,
  { postgres, daemons, kills, seed }: NotificationKillOptions,
): Promise<NotificationKillResult> {
  const receiver = await openReceiver(ending);
  const fixture = await openFixture(ending, { postgres });
  const seats = Array.from({ length: daemons }, (_, index) => {
    const dataDir = join(fixture.dir, postgres ? `data-${index}` : 'data');
    return new Seat(() =>
      fixture.spawn({ dataDir, args: ['--lease', LEASE], env: { SVC_NOTIFY: `ntfy+${receiver.url}/ops` } }),
    );
  });
  const run: Run = { fixture, receiver, chance: seeded(seed), seats, jobs: [], asked: [], decided: [], kills: [] };
  const begun = performance.now();
  for (let n = 0; n < kills; n += 1) await killOnce(run, POINTS[n % POINTS.length] ?? 'answered');
  const msPerKill = (performance.now() - begun) / Math.max(1, kills);
  receiver.onNotification = null;
  await Promise.all(seats.map((seat) => seat.daemon.ready));
  await settle(run);
  const history = await readNotificationHistory(run);
  return { violations: checkNotifications(history), figures: figuresOf(run, history, msPerKill) };
}

/** Makes something to notify about, kills a daemon at the point, and starts the next. */
async function killOnce(run: Run, point: (typeof POINTS)[number]): Promise<void> {
  const { seats, chance, receiver, kills } = run;
  await Promise.any(seats.map((seat) => seat.daemon.ready));
  const struck = point === 'collecting' ? null : killAtNotification(run, point);
  const job = await ask(run, point);
  let seat: Seat | null = null;
  if (struck === null) {
    if (job !== null) await run.fixture.waitFor(job, TERMINAL).catch(() => undefined);
    await pause(chance.whole(0, AFTER_ASK_MS));
  } else {
    seat = await Promise.race([struck, pause(QUIET_MS).then(() => null)]);
    // A page that came in the last moment has decided who is killed: two kills in one round would be noted as one.
    if (seat === null && receiver.onNotification === null) seat = await struck;
  }
  receiver.onNotification = null;
  const hit = seat ?? chance.pick(seats);
  await hit.kill();
  kills.push({ point: seat === null && struck !== null ? 'quiet' : point, at: Date.now() });
  hit.begin();
}

/** Kills the daemon that sends a notification: before it is answered, or a moment after. Returns the killed one. */
function killAtNotification(
  { fixture, receiver, chance, seats }: Run,
  point: 'unanswered' | 'answered',
): Promise<Seat> {
  const { promise, resolve } = Promise.withResolvers<Seat>();
  const afterMs = chance.whole(0, AFTER_ANSWER_MS);
  let passed = chance.next() < SECOND_SHARE ? 1 : 0;
  receiver.onNotification = async () => {
    const id = receiver.pages.at(-1)?.page.sequence_id ?? '';
    passed -= 1;
    if (passed >= 0) return;
    receiver.onNotification = null;
    const sender = await senderOf(fixture, id);
    const seat = seats.find(({ daemon }) => daemon.pid === sender) ?? chance.pick(seats);
    const strike = async (): Promise<void> => {
      await seat.kill();
      resolve(seat);
    };
    if (point === 'unanswered') await strike();
    else setTimeout(() => void strike(), afterMs);
  };
  return promise;
}

/** The process that has this page to send. */
async function senderOf({ store }: Fixture, notificationId: string): Promise<number | undefined> {
  const query = store.db
    .selectFrom('deliveries')
    .innerJoin('daemons', 'daemons.id', 'deliveries.daemon_id')
    .select('daemons.pid');
  return (await query.where('deliveries.page_id', '=', notificationId).executeTakeFirst())?.pid;
}

/** A job that fails and that somebody armed, a request for approval, or a decision. Answers the job's id. */
async function ask(run: Run, point: (typeof POINTS)[number]): Promise<string | null> {
  const { fixture, chance, jobs, asked } = run;
  // Of many requests within a minute most are sent together: there is no notification to kill at.
  const what = chance.pick(point === 'collecting' ? ['job', 'request', 'decision'] : ['job', 'job', 'decision']);
  if (what === 'request') {
    asked.push((await gate(fixture.store, { planned: false })).approval.id);
    return null;
  }
  if (what === 'decision' && (await decideOne(run))) return null;
  // Armed and failing: two reasons, and one notification.
  const job = await fixture.queue({ command: ['sh', '-c', 'sleep 0.2; exit 1'] });
  await fixture.call('job.notify', { id: job });
  jobs.push(job);
  return job;
}

/** Rejects a request that was notified separately, so its outcome is notified too. False without such a request. */
async function decideOne({ fixture, decided }: Run): Promise<boolean> {
  const answer = fixture.store.db
    .selectFrom('approvals')
    .innerJoin('pages', 'pages.approval_id', 'approvals.id')
    .select('approvals.id');
  const one = await answer
    .where('approvals.state', '=', 'pending')
    .where('pages.kind', '=', 'approval')
    .where('pages.followed', '=', 0)
    .executeTakeFirst();
  if (one === undefined) return false;
  await fixture.call('approval.decision', { id: one.id, decision: 'reject' });
  decided.push(one.id);
  return true;
}

/** What has not settled by then is reported as lost, by its name. */
async function settle(run: Run): Promise<void> {
  const begun = Date.now();
  let waitUntil = begun + SETTLE_LIMIT_MS;
  while (waitUntil > Date.now() && waitUntil < begun + ATTEMPTS_LIMIT_MS) {
    const isDone = await until('nothing is left to send', () => isSettled(run), waitUntil - Date.now()).catch(
      () => false,
    );
    if (isDone) return;
    const failed = await run.fixture.store.db
      .selectFrom('deliveries')
      .select((row) => row.fn.max('next_at').as('at'))
      .where('state', '=', 'waiting')
      .where('attempts', '>', 0)
      .executeTakeFirst();
    waitUntil = (failed?.at ?? 0) + ATTEMPT_MS;
  }
}

/** Every job has ended, there is a page about each end, request and decision, and none waits. */
async function isSettled({ fixture, jobs, asked, decided }: Run): Promise<boolean> {
  const { db } = fixture.store;
  const open = await db.selectFrom('jobs').select('id').where('state', 'in', ['queued', 'running']).limit(1).execute();
  // Read together: a page that is made between two reads would be in the topics and not among the unsent.
  const pages = await db.selectFrom('pages').select(['topic', 'state']).execute();
  if (open.length > 0 || pages.some(({ state }) => state === 'new' || state === 'sending')) return false;
  const topics = new Set(pages.map(({ topic }) => topic));
  return [
    ...jobs.map((id) => `job:${id}`),
    ...asked.map((id) => `approval:${id}`),
    ...decided.map((id) => `decided:${id}`),
  ].every((topic) => topics.has(topic));
}

async function readNotificationHistory({
  fixture,
  receiver,
  jobs,
  asked,
  decided,
  kills,
}: Run): Promise<NotificationHistory> {
  const { db } = fixture.store;
  const pages = await db.selectFrom('pages').select(['id', 'topic', 'reason']).execute();
  const deliveries = await db
    .selectFrom('deliveries')
    .select(['page_id as notificationId', 'state', 'attempts', 'next_at as nextAt', 'failure'])
    .execute();
  const arrivals = receiver.pages.map(({ page, at }) => ({
    notificationId: page.sequence_id ?? '',
    message: page.message,
    at,
  }));
  return { jobs, asked, decided, pages, deliveries, arrivals, killedAt: kills.map(({ at }) => at) };
}

function figuresOf(
  { kills, jobs, asked, decided }: Run,
  history: NotificationHistory,
  msPerKill: number,
): NotificationKillFigures {
  const at = (point: Point): number => kills.filter((kill) => kill.point === point).length;
  return {
    kills: { unanswered: at('unanswered'), answered: at('answered'), collecting: at('collecting'), quiet: at('quiet') },
    jobs: jobs.length,
    approvals: asked.length,
    decisions: decided.length,
    pages: new Set(history.arrivals.map(({ notificationId }) => notificationId)).size,
    doubled: countRepeats(history),
    msPerKill: Math.round(msPerKill),
  };
}

/** One line for people. */
export function describeNotificationFigures({
  kills,
  jobs,
  approvals,
  decisions,
  pages,
  doubled,
  msPerKill,
}: NotificationKillFigures): string {
  const { unanswered, answered, collecting, quiet } = kills;
  return [
    `${unanswered + answered + collecting + quiet} kills (${unanswered} before an answer, ${answered} after ` +
      `one, ${collecting} while pages were collected, ${quiet} at no page)`,
    `${jobs} armed and failed jobs, ${approvals} requests, ${decisions} decisions`,
    `${pages} pages, ${doubled} of them sent again`,
    `${msPerKill} ms for each kill`,
  ].join('; ');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
