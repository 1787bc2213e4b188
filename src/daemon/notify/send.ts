import { askedIn, composeNotification, type NotificationFacts } from '../../domain/notifications.ts';
import type { NotificationMessage, PushDetail } from '../../domain/notify/row.ts';
import { Failure } from '../../domain/failure.ts';
import { numberedTarget, recipientOf } from '../../domain/notify/target.ts';
import { pause } from '../../lib/clock.ts';
import { pooledBytes } from '../../lib/random.ts';
import { type MintedLinks, mintLinks } from '../../operations/approvals/approval-links.ts';
import type { LinkHolder } from '../../operations/approvals/link-standing.ts';
import type { Services } from '../../operations/core/services.ts';
import { DialFailed } from '../../dial/dial-failed.ts';
import { fromJson } from '../../lib/json.ts';
import type { EndpointTarget } from '../../push/endpoint.ts';
import type { Transport } from '../../push/transport.ts';
import {
  dueDeliveries,
  type Due,
  hasLeft,
  nextDelivery,
  putOff,
  retryDelivery,
  settleDelivery,
  takeOver,
} from '../../store/notify/deliveries.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { hasOpenNotifications } from '../../store/notify/notifications.ts';
import { listLiveEndpoints } from '../../store/notify/live-endpoints.ts';
import { adoptNumbered } from '../../store/notify/targets.ts';
import { pruneEndpoint, recordAttempt } from '../../store/notify/endpoints.ts';
import type { EndpointRow } from '../../store/schema/schema.ts';
import type { MakeLoop } from '../core/loop.ts';
import { recordService } from '../jobs/job-transitions.ts';
import { askedNow, orderWords } from './asked-facts.ts';
import { type CollectDeps, collectNotifications } from './collect.ts';

/** The dependencies for creating and sending notifications. */
export interface NotifierOptions {
  readonly transports: () => readonly Transport[];
  /** Posts to a registered endpoint. Throws DialFailed. */
  readonly sendToEndpoint: (target: EndpointTarget, message: NotificationMessage) => Promise<void>;
  readonly detail: PushDetail;
  /** Where the web pages are, without a slash at the end. */
  readonly baseUrl: string;
  readonly services: Pick<Services, 'linkOrigin' | 'keyring' | 'paths'>;
}

export interface NotifierDeps extends Omit<CollectDeps, 'transports'>, NotifierOptions {
  readonly node: () => string;
  readonly onError: (error: unknown) => void;
}

/** The fallback where no wake-up arrives, in milliseconds. */
const NOTIFY_EVERY_MS = 2_000;
/** The least time between passes, in milliseconds: every commit of another process wakes the loop. */
const REST_MS = 50;
/**
 * The maximum of concurrent sends. A dead target occupies a place for up to 3 s, and many of them must not delay a live
 * one: so there are many places, a target has one send at a time, and targets that accepted the last message come
 * first.
 */
const SENDS_MAX = 256;
/** After each try, in milliseconds: 5 tries over some 10 minutes. */
const RETRY_MS = [5_000, 30_000, 120_000, 420_000] as const;
/** The longest time that a failed notification delays others to the same target. */
const PUT_OFF_MS = 30_000;
/** Links that are kept for the other devices of a recipient; the oldest are forgotten first. */
const LINKS_MAX = 1_000;

/** Creates the notifications that are due and sends those that wait, each target independently. */
export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #busy = new Set<string>();
  readonly #sends = new Set<Promise<void>>();
  /** One pair serves all devices of a recipient: a second one would end the first. */
  readonly #links = new Map<string, Promise<MintedLinks | null>>();
  #last = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => undefined;

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  /** Set when a send has ended: its target may have more deliveries. */
  onFree(wake: () => void): void {
    this.#wake = wake;
  }

  /** One pass; returns the milliseconds until the next. */
  async sweepOnce(signal: AbortSignal): Promise<number> {
    const { store, clock, self } = this.#deps;
    const rest = this.#last + REST_MS - clock.monotonic();
    if (rest > 0) return rest;
    this.#last = clock.monotonic();
    await this.#takeOver();
    while (!signal.aborted && (await collectNotifications(this.#deps)) > 0);
    await this.#start(signal);
    const next = await nextDelivery(store.db, self(), clock.now());
    return next === null ? NOTIFY_EVERY_MS : Math.max(REST_MS, next - clock.now());
  }

  /** Whether a pass may find something to do without a commit before it. */
  hasOpen(): Promise<boolean> {
    return hasOpenNotifications(this.#deps.store.db);
  }

  /** Resolves when every send under way has ended and is recorded. */
  async settled(): Promise<void> {
    while (this.#sends.size > 0) await Promise.allSettled(this.#sends);
  }

  /** Deliveries of stopped daemons. */
  async #takeOver(): Promise<void> {
    const { store, clock, self } = this.#deps;
    const transports = this.#deps.transports();
    // Numbered targets of an earlier build get their names by this.
    const numbered = transports.map((_target, index) => numberedTarget(index + 1));
    const own = transports.map(({ id }) => id);
    if (!(await hasLeft(store.db, [...own, ...numbered], clock.now()))) return;
    await store.write(async (tx) => {
      await adoptNumbered(tx, self(), transports);
      await takeOver(tx, self(), own);
    });
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { store, clock, self } = this.#deps;
    // A send that ends during the read still has its old row in the result, and would be sent again.
    const underWay = new Set(this.#busy);
    const due = await dueDeliveries(store.db, self(), clock.now(), SENDS_MAX * 8);
    if (due.length === 0) return;
    const endpoints = new Map((await listLiveEndpoints(store, clock.now())).map((row) => [row.id, row]));
    const failures = (each: Due): number => endpoints.get(each.target)?.failures ?? 0;
    for (const each of due.toSorted((a, b) => failures(a) - failures(b))) {
      if (signal.aborted || this.#busy.size >= SENDS_MAX) return;
      if (underWay.has(each.target) || this.#busy.has(each.target)) continue;
      this.#busy.add(each.target);
      const send = this.#deliver(each, endpoints.get(each.target), signal).catch(this.#deps.onError);
      const ended = send.finally(() => {
        this.#busy.delete(each.target);
        this.#sends.delete(ended);
        this.#wake();
      });
      this.#sends.add(ended);
    }
  }

  /**
   * One attempt and its result. A record that can't be written is repeated, and never the send: the target counts as
   * busy until then. If the daemon ends in between, the notification is sent again: delivery is at least once.
   */
  async #deliver(due: Due, endpoint: EndpointRow | undefined, signal: AbortSignal): Promise<void> {
    const failure = await this.#send(due, endpoint);
    const { store, clock, onError } = this.#deps;
    for (;;) {
      try {
        return await store.write((tx) => recordTry(tx, due, endpoint, failure));
      } catch (error) {
        onError(error);
        if (!(await pause(clock, NOTIFY_EVERY_MS, signal))) return;
      }
    }
  }

  /** Null on success. */
  async #send(due: Due, endpoint: EndpointRow | undefined): Promise<DialFailed | null> {
    const transport = this.#deps.transports().find(({ id }) => id === due.target);
    if (endpoint === undefined && transport === undefined)
      return new DialFailed('the target no longer exists', 'refused');
    try {
      const message = await this.#compose(due, holderOf(endpoint, transport));
      if (transport !== undefined) await transport.send(message);
      else if (endpoint !== undefined)
        await this.#deps.sendToEndpoint({ endpoint: endpoint.endpoint, keys: keysOf(endpoint) }, message);
      return null;
    } catch (error) {
      if (error instanceof DialFailed) return error;
      if (error instanceof Failure)
        return new DialFailed(error.message, error.code === 'unavailable' ? 'transient' : 'refused');
      this.#deps.onError(error);
      return new DialFailed('a fault of the service');
    }
  }

  async #compose(due: Due, holder: LinkHolder | null): Promise<NotificationMessage> {
    const { store, clock, detail, baseUrl, node } = this.#deps;
    const stored = fromJson(due.detail);
    const about = askedIn(stored);
    const asked = about === null ? null : await askedNow(store, about);
    // The kinds that ask have the facts of a request.
    const words = asked?.isOpen === true && detail === 'full' ? await orderWords(this.#deps, asked.facts.jobId) : {};
    const facts = asked === null ? stored : ({ ...stored, ...asked.facts, ...words } as NotificationFacts);
    const links =
      asked?.isOpen === true && detail === 'full' && holder !== null
        ? await this.#linksOf(asked.facts.approvalId, holder, asked.facts.oneTap === true)
        : null;
    return composeNotification(facts, { id: due.page_id, detail, now: clock.now(), baseUrl, node: node(), links });
  }

  /** The links of a recipient; null for one who may not decide, and where nothing is left to decide. */
  async #linksOf(approvalId: string, holder: LinkHolder, oneTap: boolean): Promise<MintedLinks | null> {
    const key = `${approvalId} ${holder.recipient} ${holder.target ?? ''}`;
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    const { store, services } = this.#deps;
    const minted = services
      .linkOrigin()
      .then((origin) =>
        store.write((tx) =>
          mintLinks(tx, {
            origin,
            approvalId,
            ...holder,
            madeBy: null,
            oneTap: oneTap ? ['approve', 'reject'] : ['reject'],
          }),
        ),
      )
      .catch((error: unknown) => {
        // A recipient who may not decide now may be allowed to at the next notification.
        this.#links.delete(key);
        if (error instanceof Failure && ['forbidden', 'conflict', 'not_found'].includes(error.code)) return null;
        throw error;
      });
    this.#links.set(key, minted);
    const [oldest] = this.#links.keys();
    if (this.#links.size > LINKS_MAX && oldest !== undefined) this.#links.delete(oldest);
    return minted;
  }
}

/** As whom the links of a message act. */
function holderOf(endpoint: EndpointRow | undefined, transport: Transport | undefined): LinkHolder | null {
  if (transport !== undefined) return { recipient: recipientOf(transport), target: transport.key };
  return endpoint === undefined ? null : { recipient: endpoint.owner, target: null };
}

/** The result of an attempt; `failure` is null on success. */
async function recordTry(
  tx: Tx,
  due: Due,
  endpoint: EndpointRow | undefined,
  failure: DialFailed | null,
): Promise<void> {
  const base = { page_id: due.page_id, target: due.target };
  if (endpoint !== undefined) await recordAttempt(tx, endpoint.id, failure?.message ?? null);
  if (failure === null) return settleDelivery(tx, { ...base, state: 'sent', failure: null });
  if (failure.kind === 'gone' && endpoint !== undefined) {
    // Record the attempted delivery with its reason first; the other ones of the endpoint are removed without a reason.
    await settleDelivery(tx, { ...base, state: 'gone', failure: failure.message });
    if (await pruneEndpoint(tx, endpoint.id)) recordService(tx, 'notify.endpoint.prune', endpoint.id, {});
    return;
  }
  const waitMs = RETRY_MS[due.attempts];
  if (waitMs === undefined || failure.kind !== 'transient')
    return settleDelivery(tx, { ...base, state: 'dead', failure: failure.message });
  const leastMs = failure.retryAfterMs ?? 0;
  // All that waits for the target, this one too, whose own time is set after that.
  await putOff(tx, due.target, tx.now + Math.max(Math.min(waitMs, PUT_OFF_MS), leastMs));
  await retryDelivery(tx, base, failure.message, tx.now + Math.max(jittered(waitMs), leastMs));
}

function keysOf({ p256dh, auth }: EndpointRow): EndpointTarget['keys'] {
  return p256dh === null || auth === null ? null : { p256dh, auth };
}

/** Varied by a fifth, so that deliveries that failed together are not repeated together. */
function jittered(ms: number): number {
  return Math.round(ms * (0.8 + 0.4 * (pooledBytes(2).readUInt16BE() / 0xffff)));
}

interface NotificationLoopDeps {
  readonly notifier: Notifier;
}

export const notificationLoop: MakeLoop<NotificationLoopDeps> = ({ notifier }) => ({
  name: 'page',
  everyMs: NOTIFY_EVERY_MS,
  wakeOn: ['after-request', 'notification-due'],
  restsWithoutCommits: true,
  async once(signal) {
    const dueMs = await notifier.sweepOnce(signal);
    return (await notifier.hasOpen()) ? { dueMs } : {};
  },
  // Record running sends before the store closes; otherwise they would be sent again.
  settled: () => notifier.settled(),
});
