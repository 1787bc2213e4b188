/** The rules of each operation, one scenario each, and the check that no operation is without one. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isNone } from '../../src/operations/core/http-face.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { assertNoTitleLost } from '../support/golden-titles.ts';
import { runScenarios, titleOf } from '../support/scenario.ts';
import { DECISION_SCENARIOS } from './scenarios/approval-decisions.ts';
import { APPROVAL_SCENARIOS } from './scenarios/approvals.ts';
import { BACKUP_SCENARIOS } from './scenarios/backups.ts';
import { CHECK_SCENARIOS } from './scenarios/checks/checks.ts';
import { COMMAND_SCENARIOS } from './scenarios/commands.ts';
import { EVENT_SCENARIOS } from './scenarios/events.ts';
import { HOST_SCENARIOS } from './scenarios/hosts.ts';
import { JOB_SCENARIOS } from './scenarios/jobs/jobs.ts';
import { MUTE_SCENARIOS } from './scenarios/mutes.ts';
import { NETGROUP_SCENARIOS } from './scenarios/netgroups.ts';
import { NOTIFY_SCENARIOS } from './scenarios/notify.ts';
import { PLAYBOOK_SCENARIOS } from './scenarios/playbooks.ts';
import { ORDER_SCENARIOS } from './scenarios/jobs/orders.ts';
import { RERUN_SCENARIOS } from './scenarios/jobs/reruns.ts';
import { RULE_SCENARIOS } from './scenarios/rules.ts';
import { SCHEDULE_SCENARIOS } from './scenarios/schedules.ts';
import { SECRET_SCENARIOS } from './scenarios/secrets.ts';
import { SERVICE_SCENARIOS } from './scenarios/service.ts';
import { SOURCE_SCENARIOS } from './scenarios/sources.ts';
import { WIRE_SCENARIOS } from './scenarios/wire.ts';
import { WORKSPACE_SCENARIOS } from './scenarios/workspaces.ts';

const SCENARIOS = [
  ...SERVICE_SCENARIOS,
  ...JOB_SCENARIOS,
  ...RERUN_SCENARIOS,
  ...ORDER_SCENARIOS,
  ...COMMAND_SCENARIOS,
  ...PLAYBOOK_SCENARIOS,
  ...SOURCE_SCENARIOS,
  ...WORKSPACE_SCENARIOS,
  ...APPROVAL_SCENARIOS,
  ...DECISION_SCENARIOS,
  ...SECRET_SCENARIOS,
  ...BACKUP_SCENARIOS,
  ...HOST_SCENARIOS,
  ...MUTE_SCENARIOS,
  ...SCHEDULE_SCENARIOS,
  ...EVENT_SCENARIOS,
  ...NETGROUP_SCENARIOS,
  ...CHECK_SCENARIOS,
  ...RULE_SCENARIOS,
  ...NOTIFY_SCENARIOS,
  ...WIRE_SCENARIOS,
];

test('Every operation with a route has a scenario, and every scenario has an operation', () => {
  const routed = OPERATIONS.filter(({ http }) => !isNone(http)).map(({ id }) => id);
  const answer = new Set(SCENARIOS.map(({ operation }) => operation));
  assert.deepEqual(
    routed.filter((id) => !answer.has(id)),
    [],
    'write a scenario in test/api/scenarios for these',
  );
  assert.deepEqual(
    [...answer].filter((id) => !OPERATIONS.some((row) => row.id === id)),
    [],
    'these are in no row of the table',
  );
});

test('No scenario is lost: each rule that there was is there', () => {
  assertNoTitleLost(join(import.meta.dirname, '..', 'golden', 'scenarios.txt'), SCENARIOS.map(titleOf));
});

runScenarios(SCENARIOS);
