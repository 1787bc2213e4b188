import type { CheckObservation, EventOutcome, StoredStep, WebhookSource } from '../../domain/events/event.ts';
import type { MessageRefusal } from '../../domain/events/message-refusal.ts';
import type { RuleAction } from '../../domain/rules/actions.ts';
import type { MuteScope, RuleApproval } from '../../domain/rules/rule.ts';
import type { ScheduledAction } from '../../domain/schedules/schedule.ts';
import type { Json } from '../../lib/json.ts';

/** The tables of events, rules, silences, mutes and schedules. See schema.ts for the conventions. */

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

export interface RuleRow {
  name: string;
  enabled: 0 | 1;
  when_text: string;
  cooldown_ms: number | null;
  approval: RuleApproval;
  approval_ttl_ms: number | null;
  /** JSON. */
  action: Json<RuleAction>;
  /** JSON: its owner, for the asking chain. */
  owners: Json<readonly string[]>;
  added_by: string;
  /** Increases with every change: the compiled form of an older version is void. */
  version: number;
  created_at: number;
  updated_at: number;
  last_fired_at: number | null;
  /** 1: its command may be approved by one tap. */
  one_tap: 0 | 1;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
  /** 1: `${…}` was checked as this build does; null: by an earlier build, in other places and without bounds. */
  bounded_values: 1 | null;
  /** The author's description; null without one. */
  summary: string | null;
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

/** When a rule last fired for a thing, and with which job. */
export interface RuleFireRow {
  rule: string;
  fingerprint: string;
  /** Empty where the event has none. */
  status: string;
  fired_at: number;
  job_id: string | null;
}

/** Stops a rule, or all rules for events that its expression matches. */
export interface SilenceRow {
  id: string;
  rule: string | null;
  when_text: string | null;
  reason: string;
  created_by: string;
  created_at: number;
  expires_at: number;
  /** When its end was noted. */
  ended_at: number | null;
}

/** Holds announcements, never jobs. */
export interface MuteRow {
  id: string;
  scope_kind: MuteScope;
  scope_value: string | null;
  reason: string | null;
  created_via: string;
  created_by: string;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
}

export interface ScheduleRow {
  name: string;
  cron: string;
  timezone: string;
  enabled: 0 | 1;
  /** JSON. */
  action: Json<ScheduledAction>;
  runbook: string;
  approval: RuleApproval;
  approval_ttl_ms: number | null;
  owners: Json<readonly string[]>;
  added_by: string;
  next_at: number | null;
  last_at: number | null;
  last_job_id: string | null;
  /** Why the last slot made no job; null where it made one, and before the first. */
  last_refusal: string | null;
  /** Where the last slot stopped that makes more jobs than fit one write; null once it has made all. */
  rest_after: string | null;
  created_at: number;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
  /** The author's description; null without one. */
  summary: string | null;
  /** 1: a star with a step restricts no days by itself; null: written for an earlier build, where it did. */
  star_steps: 1 | null;
}
