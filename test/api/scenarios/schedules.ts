import { toJson } from '../../../src/lib/json.ts';
import type { Program } from '../../support/program.ts';
import type { Scenario } from '../../support/scenario.ts';
import { addSchedule } from '../../support/fixtures/schedules.ts';

const JOB = 'job_01m7yd4zyke00anp2z332d2j5p';

async function twoSchedules({ store }: Program): Promise<Record<string, string>> {
  await addSchedule(store, {
    name: 'tidy',
    cron: '*/30 * * * *',
    action: {
      kind: 'command',
      command: ['/srv/canary', '--password', 'canary'],
      inventory: 'localhost',
      limit: null,
      timeout: null,
    },
    enabled: 0,
    owners: toJson(['canary']),
    added_by: 'canary',
  });
  await addSchedule(store, {
    name: 'nightly',
    timezone: 'Europe/Berlin',
    action: { kind: 'apply', workspace: 'net', timeout: null },
    approval: 'required',
    next_at: Date.UTC(2026, 10, 22, 2),
    last_at: Date.UTC(2026, 10, 21, 2),
    last_job_id: JOB,
  });
  return {};
}

const NIGHTLY =
  '{"name":"nightly","cron":"0 3 * * *","timezone":"Europe/Berlin","enabled":true,"runbook":"apply:net",' +
  `"next_at":"2026-11-22T02:00:00.000Z","last_at":"2026-11-21T02:00:00.000Z","last_job_id":"${JOB}"}`;
const TIDY =
  '{"name":"tidy","cron":"*/30 * * * *","timezone":"UTC","enabled":false,"runbook":"command:localhost",' +
  '"next_at":null,"last_at":null,"last_job_id":null}';

export const SCHEDULE_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'schedule.list',
    rule: 'is an empty list where there is nothing, never absent',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/schedules' },
    expect: { status: 200, kind: 'schedule.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'schedule.list',
    rule: 'is by name, and says neither the words of a command nor who is behind it',
    given: twoSchedules,
    as: 'approve',
    send: { method: 'GET', path: '/api/v1/schedules' },
    expect: {
      status: 200,
      kind: 'schedule.list',
      text: new RegExp(`"data":\\[${RegExp.escape(NIGHTLY)},${RegExp.escape(TIDY)}\\]\\}\\n$`),
    },
    expectNot: ['canary', 'action', 'ana'],
  },
  {
    operation: 'schedule.list',
    rule: 'is not for hosts',
    as: 'host',
    send: { method: 'GET', path: '/api/v1/schedules' },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'schedule.list',
    rule: 'takes no field',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/schedules?limit=1' },
    expect: { status: 400, code: 'invalid_argument', message: /limit/ },
  },
  {
    operation: 'schedule.add',
    rule: 'has no route: schedules are changed on the machine only',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/schedules', body: { name: 'nightly', cron: '0 3 * * *', destroy: 'net' } },
    expect: { status: 404, code: 'not_found' },
  },
];
