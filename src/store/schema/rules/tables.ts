import type { RuleAction } from '../../../domain/rules/actions.ts';
import type { MuteScope, RuleApproval } from '../../../domain/rules/rule.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    rules: RuleRow;
    rule_fires: RuleFireRow;
    silences: SilenceRow;
    mutes: MuteRow;
  }
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
