import type { CheckObservation, EventOutcome, StoredStep, WebhookSource } from '../../../domain/events/event.ts';
import type { MessageRefusal } from '../../../domain/events/message-refusal.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    events: EventRow;
    event_counts: EventCountRow;
    webhooks: WebhookRow;
    webhook_refusals: WebhookRefusalRow;
    webhook_keys: WebhookKeyRow;
    webhook_signatures: WebhookSignatureRow;
    causes: CauseRow;
  }
}

export interface EventRow {
  id: string;
  source: string;
  name: string | null;
  status: string | null;
  netgroup: string | null;
  severity: string | null;
  fingerprint: string | null;
  /** JSON. */
  labels: Json<Readonly<Record<string, string>>>;
  outcome: EventOutcome;
  reason: string;
  rule: string | null;
  job_id: string | null;
  approval_id: string | null;
  received_at: number;
  /** JSON. */
  annotations: Json<Readonly<Record<string, string>>>;
  /** JSON: of the transition of a check, the observations that agreed. */
  check_observations: Json<CheckObservation[]> | null;
  /** JSON: the steps of the evaluation. */
  trace: Json<readonly StoredStep[]>;
  /** How many jobs stand before it in a chain job → outcome → rule → job. */
  depth: number;
}

/** The events with this outcome that one process counted: with one row for all, processes would wait for each other. */
export interface EventCountRow {
  chain: string;
  outcome: EventOutcome;
  count: number;
}

export interface WebhookRow {
  name: string;
  source: WebhookSource;
  /** SHA-256 of the token, hex. */
  hash: string;
  created_at: number;
  last_heard_at: number | null;
  /** 1 where only signed messages are taken; a row that is inserted without it has 0. */
  signed?: 0 | 1 | undefined;
  order_tag: string | null;
  order_key_id: string | null;
}

/** How many messages of a webhook were refused within an hour. */
export interface WebhookRefusalRow {
  webhook: string;
  /** When the hour began, in milliseconds since the epoch. */
  hour: number;
  reason: MessageRefusal;
  count: number;
}

/** What the messages of a signed webhook are signed with. */
export interface WebhookKeyRow {
  webhook: string;
  sealed: Uint8Array;
  key_id: string;
}

/** A signature that was taken: it is not taken again. */
export interface WebhookSignatureRow {
  webhook: string;
  /** Hex. */
  signature: string;
  /** The one message that it came with, for whose writes it is no repeat. */
  message: string;
  /** As the sender says. */
  signed_at: number;
}

/** Who changed what an event depends on. */
export interface CauseRow {
  /** A `Subject`. */
  subject: string;
  owner: string;
  /** Higher for a later change of the same subject. */
  position: number;
  /** Whether an event of the subject came after this change. */
  seen: 0 | 1;
}
