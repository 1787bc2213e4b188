import * as z from 'zod';
import { EVENT_OUTCOMES } from '../../domain/events/event.ts';
import { RULE_APPROVALS } from '../../domain/rules/rule.ts';
import { backupAction } from '../backups/views.ts';
import { commandAction, playbookAction } from '../commands/views.ts';
import { traceStep } from '../events/views.ts';
import { notifyAction } from '../notify/views.ts';
import { time } from '../shapes.ts';
import { workflowAction } from '../workflows/views.ts';
import { workspaceAction } from '../workspaces/views.ts';

/** The kind and its targets. The words of a command and the text of a message are never shown. */
const action = z.discriminatedUnion('kind', [
  commandAction,
  playbookAction,
  workspaceAction,
  workflowAction,
  backupAction,
  notifyAction,
]);

const rule = {
  name: z.string(),
  enabled: z.boolean(),
  when: z.string(),
  cooldown: z.string().nullable(),
  approval: z.enum(RULE_APPROVALS),
  action,
  last_fired_at: time.nullable(),
  /**
   * While a silence stops it, whatever the event is: until when, and which one; of several, the one that lasts longest.
   */
  silenced_until: time.optional(),
  silence_id: z.string().optional(),
};

/**
 * What the sandbox of its jobs allows beside what it allows each; absent where a rule cannot ask for more. On the
 * machine itself only, because of the paths.
 */
const reach = z
  .object({
    /** TCP ports beside 22 and those that the inventory names for its hosts. */
    egress_ports: z.array(z.number()),
    /** Without a sandbox. */
    privileged: z.boolean(),
    writable: z.array(z.string()),
  })
  .optional();

const silence = z.object({
  id: z.string(),
  rule: z.string().nullable(),
  when: z.string().nullable(),
  reason: z.string(),
  created_at: time,
  expires_at: time,
});

export const RULE_VIEWS = {
  'rule.list': z.array(z.object(rule)),
  'rule.get': z.object({
    ...rule,
    approval_ttl: z.string().nullable(),
    added_by: z.string(),
    created_at: time,
    updated_at: time,
    reach,
    /** Where it was removed: the silences for it that ended with it. */
    ended_silences: z.array(z.string()).optional(),
  }),
  /** The text of a rule file. */
  'rule.exported': z.object({ name: z.string(), text: z.string() }),
  'rule.test': z.object({
    rule: z.string(),
    event_id: z.string(),
    fires: z.boolean(),
    outcome: z.enum(EVENT_OUTCOMES),
    reason: z.string(),
    trace: z.array(traceStep),
    reach,
  }),
  'silence.list': z.array(silence),
  'silence.get': silence,
} as const satisfies Record<string, z.ZodType>;
