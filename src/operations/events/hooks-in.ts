/** Messages of webhooks: who may send them, how they are read and answered. The ingress is their face. */
import { subjectOf } from '../../domain/events/causes.ts';
import { REPAIRED } from '../../domain/events/message-refusal.ts';
import type { NormalEvent } from '../../domain/events/event.ts';
import { plainAddress } from '../../lib/ip/address.ts';
import { type INGRESS_LABELS, WEBHOOK_ANNOTATION } from '../../reaction/normalise/make-event.ts';
import type { MessageReader } from '../../reaction/message/message-reader.ts';
import { type Normalised, type Payload, Unreadable } from '../../reaction/normalise/payload.ts';
import { receive, receiveUnreadable } from '../../reaction/receive.ts';
import type { Sender } from '../../reaction/types.ts';
import type { Checked } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { EventRow, WebhookRow } from '../../store/schema/schema.ts';
import { whileUnchanged } from '../../store/engine/read-cache.ts';
import { findWebhook, markHeard, webhookHash } from '../../store/events/webhooks.ts';
import { MessageRefused } from './hook-refusals.ts';
import { type Signature, takenOnce } from './hook-signature.ts';
import type { Repeats } from './repeats.ts';
import type { Runtime } from '../core/invoke.ts';
import type { ViewData } from '../../views/views.ts';

/** When a webhook was last heard is written at most this often by a daemon: a dead-man watch looks in minutes. */
const HEARD_EVERY_MS = 1_000;

/** What a message was sent to. */
export type Webhook = Checked<WebhookRow>;

/** The webhook of a message. The message of an unknown token is dropped unread. */
export interface Hook {
  readonly row: Webhook;
  /**
   * Of the message, checked; null where messages are not signed, and for one that is refused before its body was read.
   */
  readonly signature: Signature | null;
}

export interface Message extends Payload {
  /** The address of the socket: a header is no proof of the sender. */
  readonly peer: string;
}

export type Accepted = ViewData<'event.accepted'>;

/** The webhook of a token: one hash and one look-up, whatever the token is. */
export function webhookFinder({ store }: Runtime): (token: string) => Promise<Webhook | undefined> {
  const find = whileUnchanged(store, 'webhooks', (hash) => findWebhook(store, hash));
  return (token) => find(webhookHash(token));
}

/** The bytes by which the repeat of a message is recognised, with its length. */
const REPEAT_BYTES = 65_536;

interface ReadDeps {
  readonly runtime: Runtime;
  readonly reader: MessageReader;
  readonly repeats: Repeats;
}

/**
 * Reads a message. Throws MessageRefused for one that cannot be read, after it was recorded, and unavailable if too
 * many are being read.
 */
export async function readMessage(
  { runtime, reader, repeats }: ReadDeps,
  hook: Hook,
  message: Message,
): Promise<Normalised> {
  const { bytes, query, peer } = message;
  // A copy: the thread that reads a long message takes its bytes.
  const begin = Buffer.from(bytes.subarray(0, REPEAT_BYTES));
  const { length } = bytes;
  try {
    return await reader.read(hook.row.source, message);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const what = [hook.row.hash, error.message, String(length), begin, query];
    const record = (): Promise<void> => recordRefused(runtime, hook, peer, error);
    // A signed message is taken once by its signature, and a repeat of it is refused by that.
    await (hook.signature === null ? repeats.once(what, record) : record());
    throw new MessageRefused(error.message, error.refusal);
  }
}

/** Records a message that cannot be read, then throws MessageRefused. */
export async function refuseMessage(runtime: Runtime, hook: Hook, peer: string, error: Unreadable): Promise<never> {
  await recordRefused(runtime, hook, peer, error);
  throw new MessageRefused(error.message, error.refusal);
}

async function recordRefused(
  { services }: Runtime,
  { row, signature }: Hook,
  peer: string,
  { message }: Unreadable,
): Promise<void> {
  // An unsigned message is not recorded: else anyone who knows the URL could fill the ledger.
  if (row.signed === 1 && signature === null) return;
  await receiveUnreadable(
    takenOnce(services.reaction, signature),
    { source: row.source, labels: await ingressLabels(services, peer), annotations: webhookAnnotation(row) },
    [message],
  );
}

/**
 * Accepts messages: evaluates the rules on the events of a message and records the outcomes, which are durable when the
 * promise resolves.
 */
export function messageTaker(
  runtime: Runtime,
  repeats: Repeats,
): (hook: Hook, normalised: Normalised, peer: string) => Promise<Accepted> {
  const noteHeard = heardNoter(runtime);
  return async ({ row, signature }, { events, problems }, peer) => {
    const reaction = takenOnce(runtime.services.reaction, signature);
    const own = await ingressLabels(runtime.services, peer);
    const sender = hookSender(row);
    // Labels of these names from the sender are replaced: only the socket shows where a message came from.
    const stamp = (event: NormalEvent): NormalEvent => ({
      ...event,
      labels: { ...event.labels, ...own },
      annotations: { ...event.annotations, ...webhookAnnotation(row) },
    });
    const stamped = await reaction.turns.each(events, stamp);
    const received = await receive(reaction, stamped, sender);
    const unread: { readonly id: string; readonly outcome: EventRow['outcome'] }[] = [];
    const known = { source: row.source, labels: own, annotations: webhookAnnotation(row) };
    const record = async (reasons: readonly string[]): Promise<void> =>
      void unread.push(...(await receiveUnreadable(reaction, known, reasons)));
    const others = problems.filter((problem) => problem !== REPAIRED);
    if (others.length > 0) await record(others);
    if (others.length < problems.length) await repeats.once([row.hash, REPAIRED], () => record([REPAIRED]));
    const accepted = [...received.map(({ event }) => event), ...unread].map(({ id, outcome }) => ({
      event_id: id,
      outcome,
    }));
    // Only an accepted message counts as heard: no repeat, and none that the store refused.
    noteHeard(row.hash);
    return { events: accepted };
  };
}

/** No one is behind a message, but who has set the webhook up knows how to send one. */
export function hookSender({ name }: { readonly name: string }): Sender {
  const subjects = [subjectOf('webhook', name)];
  return { principal: `webhook:${name}`, owners: [], subjects, via: 'webhook', trigger: 'rule', depth: 0 };
}

/**
 * Notes that the webhook of a hash was heard. Nothing waits for it: a message that was accepted must not be refused
 * because of this.
 */
function heardNoter({ store, services: { clock } }: Runtime): (hash: string) => void {
  /** When it was noted last, by the monotonic clock. */
  const noted = new Map<string, number>();
  return (hash) => {
    const now = clock.monotonic();
    if (now - (noted.get(hash) ?? Number.NEGATIVE_INFINITY) < HEARD_EVERY_MS) return;
    noted.set(hash, now);
    const mark = async (tx: Tx): Promise<void> => markHeard(tx, hash);
    // The next message makes up for one that fails.
    store.write(mark).catch(() => noted.delete(hash));
  };
}

type IngressLabels = Readonly<Record<(typeof INGRESS_LABELS)[number], string>>;

async function ingressLabels({ netgroups }: Runtime['services'], peer: string): Promise<IngressLabels> {
  const plain = plainAddress(peer);
  const netgroup = (await netgroups.current()).classify(plain);
  return { peer_ip: plain, peer_netgroup: netgroup, netgroup };
}

function webhookAnnotation({ name }: Webhook): Readonly<Record<string, string>> {
  return { [WEBHOOK_ANNOTATION]: name };
}
