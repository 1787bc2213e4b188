/** What comes in by webhooks: who may send, how it is read, and what is answered. The ingress is the face of it. */
import { Failure } from '../domain/failure.ts';
import { classify, plainAddress } from '../domain/netgroup.ts';
import type { INGRESS_LABELS } from '../reaction/normalise/make-event.ts';
import { NORMALISERS } from '../reaction/normalise/normalise.ts';
import { type Normalised, type Payload, Unreadable } from '../reaction/normalise/payload.ts';
import { receive, receiveUnreadable, type Sender } from '../reaction/receive.ts';
import type { Tx } from '../store/gate.ts';
import type { WebhookRow } from '../store/schema.ts';
import { whileUnchanged } from '../store/unchanged.ts';
import { findWebhook, markHeard, webhookHash } from '../store/webhooks.ts';
import { type Signature, takenOnce } from './hook-signature.ts';
import type { Home } from './invoke.ts';
import type { ViewData } from './views.ts';

/** When a webhook was last heard is written at most this often: a dead-man watch looks in minutes. */
const HEARD_EVERY_MS = 1_000;

/** The webhook of a token. `row` is undefined where there is none: what follows then does the same work and refuses. */
export interface Hook {
  readonly row: WebhookRow | undefined;
  /** Of its message, once checked; a webhook whose messages are not signed has none. */
  readonly signature?: Signature | null;
}

export interface Message extends Payload {
  /** Of the socket, as the operating system tells it: no header says who sent something. */
  readonly peer: string;
}

export type Accepted = ViewData<'event.accepted'>;

/** One hash and one look-up, whatever the token is. */
export function hookFinder({ store }: Home): (token: string) => Promise<Hook> {
  const find = whileUnchanged(store, (hash) => findWebhook(store.db, hash));
  return async (token) => ({ row: await find(webhookHash(token)) });
}

/**
 * Reads a message. Throws Failure not_found for an unknown hook, after it was read as a generic payload, and
 * invalid_argument for what can't be read, after that is on the ledger.
 */
export async function readMessage(home: Home, hook: Hook, message: Message): Promise<Normalised> {
  try {
    const [normalised] = await home.services.reaction.turns.each([message], NORMALISERS[hook.row?.source ?? 'generic']);
    if (hook.row === undefined || normalised === undefined) throw unknownHook();
    return normalised;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return refuseMessage(home, hook, message.peer, error.message);
  }
}

/** For a message that can't be read. Throws as `readMessage` does. */
export async function refuseMessage({ services }: Home, { row, signature }: Hook, peer: string, why: string): Promise<never> {
  if (row === undefined) throw unknownHook();
  // What nobody signed stands nowhere: else who knows no more than the URL fills the ledger.
  if (row.signed !== 1 || signature) await receiveUnreadable(takenOnce(services.reaction, signature), row.source, why, ingressLabels(peer));
  throw new Failure('invalid_argument', why);
}

function unknownHook(): Failure {
  return new Failure('not_found', 'There is no such hook.');
}

/** Tries the rules on the events of a message and writes all that comes of it; it is durable when this resolves. */
export async function acceptMessage(home: Home, { row, signature }: Hook, { events, problems }: Normalised, peer: string): Promise<Accepted> {
  if (row === undefined) throw unknownHook();
  const reaction = takenOnce(home.services.reaction, signature);
  const own = ingressLabels(peer);
  const sender: Sender = { principal: `webhook:${row.name}`, owners: [], via: 'webhook', trigger: 'rule', depth: 0 };
  // A sender's own labels of these names go: only the socket says from where something came.
  const stamped = events.map((event) => ({ ...event, labels: { ...event.labels, ...own } }));
  const received = receive(reaction, stamped, sender);
  noteHeard({ ...home, store: signature ? reaction.store : home.store }, row);
  const accepted = (await received).map(({ event }) => ({ event_id: event.id, outcome: event.outcome }));
  for (const problem of problems) {
    const { id, outcome } = await receiveUnreadable(reaction, row.source, problem, own);
    accepted.push({ event_id: id, outcome });
  }
  return { events: accepted };
}

/** Beside the events, and in the same commit as they: a message that was taken must not be refused because of this. */
function noteHeard({ store, services }: Home, row: WebhookRow): void {
  // Of a clock that was set back the difference is negative.
  if (Math.abs(services.clock.now() - (row.last_heard_at ?? 0)) < HEARD_EVERY_MS) return;
  const mark = async (tx: Tx): Promise<void> => markHeard(tx, row.hash);
  store.write(mark).catch(() => undefined);
}

function ingressLabels(peer: string): Readonly<Record<(typeof INGRESS_LABELS)[number], string>> {
  const netgroup = classify(peer, []);
  return { peer_ip: plainAddress(peer), peer_netgroup: netgroup, netgroup };
}
