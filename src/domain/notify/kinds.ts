import { formatDuration } from '../duration.ts';
import { approvalsRow, askedRow, decidedRow } from './approval-rows.ts';
import { jobRow, jobsRow } from './job-rows.ts';
import type { NotificationKind } from './notification-facts.ts';
import { type NotificationRow, PLAIN } from './row.ts';
import { ruleRow, rulesRow } from './rule-rows.ts';

const deadmanRow: NotificationRow<'deadman'> = {
  ...PLAIN,
  words: (facts, { baseUrl }) =>
    facts.heard
      ? {
          title: `${facts.name} is heard again`,
          message: `Webhook ${facts.webhook} got a message.`,
          priority: 3,
          tags: ['white_check_mark'],
          click: `${baseUrl}/events`,
        }
      : {
          title: `${facts.name} is silent`,
          message: `Webhook ${facts.webhook} got no message for ${formatDuration(facts.everyMs)}.`,
          priority: 5,
          tags: ['skull'],
          click: `${baseUrl}/events`,
        },
  terse: (facts) => (facts.heard ? 'svc: a watch is heard again' : 'svc: a watch is silent'),
};

const workflowRow: NotificationRow<'workflow'> = {
  ...PLAIN,
  words: ({ workflow, runId, step }, { baseUrl }) => ({
    title: `workflow:${workflow} failed`,
    message: `Step ${step} of run ${runId} could not be queued.`,
    priority: 4,
    tags: ['rotating_light'],
    click: `${baseUrl}/events`,
  }),
  terse: () => 'svc: 1 workflow failed',
};

const testRow: NotificationRow<'test'> = {
  ...PLAIN,
  words: (facts, { baseUrl }) => ({
    title: 'Test notification',
    message: `Requested by ${facts.by}. Notifications arrive here.`,
    priority: 3,
    tags: ['wave'],
    click: `${baseUrl}/devices`,
  }),
  terse: () => 'svc: test notification',
};

/** Every kind of notification. */
const NOTIFICATIONS: { readonly [K in NotificationKind]: NotificationRow<K> } = {
  approval: askedRow,
  approvals: approvalsRow,
  reminder: askedRow,
  decided: decidedRow,
  job: jobRow,
  jobs: jobsRow,
  workflow: workflowRow,
  rule: ruleRow,
  rules: rulesRow,
  deadman: deadmanRow,
  test: testRow,
};

export function rowOf<K extends NotificationKind>(kind: K): NotificationRow<K> {
  return NOTIFICATIONS[kind];
}
