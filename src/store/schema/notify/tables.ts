import type { NotificationFacts, NotificationKind } from '../../../domain/notifications.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    endpoints: EndpointRow;
    armed_jobs: ArmedJobRow;
    pages: NotificationRow;
    deliveries: DeliveryRow;
  }
}

/** Where one device receives its notifications. */
export interface EndpointRow {
  id: string;
  /** The token that registered it, and may list and drop it; `local:<user>` for the local command line. */
  token_id: string;
  /** As whom the links in its notifications decide. */
  owner: string;
  /** A URL that is a capability: only its own token is shown it. */
  endpoint: string;
  label: string | null;
  /** The keys that its messages are encrypted with, base64url; both or neither. */
  p256dh: string | null;
  auth: string | null;
  created_at: number;
  sent_at: number | null;
  failed_at: number | null;
  failure: string | null;
  /** In a row, since the last message that it took. */
  failures: number;
  order_tag: string | null;
  order_key_id: string | null;
}

/** A job with a requested notification of its end, whatever the end is. */
export interface ArmedJobRow {
  job_id: string;
  armed_by: string;
  owner: string;
  armed_at: number;
  done_at: number | null;
}

/** A notification. */
export interface NotificationRow {
  id: string;
  /** Its kind and subject: a notification of a topic is made once. */
  topic: string;
  kind: NotificationKind;
  /** `new`: no targets yet. `held`: a mute kept it back for good. `done`: every delivery is settled. */
  state: 'new' | 'sending' | 'held' | 'done';
  job_id: string | null;
  approval_id: string | null;
  /** JSON: names, states and counts that the text is made of. Never a link. */
  detail: Json<NotificationFacts>;
  /** Why it was suppressed, or which notification includes it. */
  reason: string | null;
  /** 1 when the recipients were notified of the outcome. */
  followed: 0 | 1;
  created_at: number;
  /** The burst that it is counted with; null for one that is never folded with others. */
  burst: string | null;
}

/** One notification for one target. */
export interface DeliveryRow {
  page_id: string;
  /** The id of an endpoint, or a `--notify` target as `deliveryTargetOf` names it. */
  target: string;
  /** `dead`: given up. `gone`: the target is not there any more. */
  state: 'waiting' | 'sent' | 'dead' | 'gone';
  /** Who sends it; another daemon takes over when that one died. */
  daemon_id: string;
  attempts: number;
  next_at: number;
  failure: string | null;
  settled_at: number | null;
}
