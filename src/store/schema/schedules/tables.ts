import type { RuleApproval } from '../../../domain/rules/rule.ts';
import type { ScheduledAction } from '../../../domain/schedules/schedule.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    schedules: ScheduleRow;
  }
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
