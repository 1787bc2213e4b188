/** What decides when, where or how much is run is kept, or its object is left out: it never becomes a wider one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { IMPORTERS } from './importers.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAILY = 'DTSTART:20250101T040000Z RRULE:FREQ=DAILY;INTERVAL=1';

async function imported(from: string, value: object) {
  const { schedules, notes } = await (IMPORTERS[from] ?? assert.fail())(JSON.stringify(value), NOW);
  return { schedules: Object.fromEntries(schedules), notes };
}

type Json = Readonly<Record<string, unknown>>;

async function ofAwx(schedule: Json, template: Json = {}) {
  const related = { schedules: [{ name: 'day', rrule: DAILY, ...schedule }], ...(template['related'] as object) };
  const base = { name: 'Patch', playbook: 'x.yml', project: { name: 'Ops' }, inventory: { name: 'Prod' } };
  const { schedules, notes } = await imported('awx', { job_templates: [{ ...base, ...template, related }] });
  const left = notes.filter((note) => note.startsWith('Left out'));
  return { entry: schedules['patch-day'], left };
}

function spec(variable: string): object {
  return { survey_spec: { spec: [{ variable }] } };
}

function inventoryOf(name: string): object {
  return { name: 'Prod', organization: { name } };
}

describe('A schedule of AWX', () => {
  test('keeps its own limit, inventory, check mode, diff mode, tags, time-out and extra data', async () => {
    const schedule = {
      inventory: { name: 'Staging' },
      limit: 'web1',
      job_type: 'check',
      job_tags: 'a,b',
      skip_tags: 'c',
      diff_mode: true,
      timeout: 90,
      extra_data: { size: 2 },
    };
    const template = { limit: 'all', job_type: 'run', job_tags: 'x', extra_vars: 'size: 1\ncolor: blue\n', timeout: 0 };
    const { entry, left } = await ofAwx(schedule, template);
    assert.deepEqual(left, []);
    assert.deepEqual(entry, {
      cron: '0 4 * * *',
      playbook: 'x.yml',
      source: 'ops',
      inventory: 'staging',
      check: true,
      diff: true,
      limit: 'web1',
      tags: ['a', 'b'],
      skip_tags: ['c'],
      extra_vars: { size: 2, color: 'blue' },
      timeout: '90s',
      enabled: false,
    });
  });

  test('has the values of its template where it has none', async () => {
    const template = { limit: 'web', job_type: 'check', skip_tags: 'c', diff_mode: true, extra_vars: '---' };
    const { entry } = await ofAwx({ limit: '', job_type: null, diff_mode: null, extra_data: {} }, template);
    assert.deepEqual(
      ['limit', 'check', 'skip_tags', 'diff', 'extra_vars'].map((field) => entry?.[field]),
      ['web', true, ['c'], true, undefined],
    );
  });

  test('is left out where it has something that a schedule cannot say, or is disabled', async () => {
    for (const [schedule, template, why] of [
      [{ enabled: false }, {}, 'it is disabled there'],
      [{ forks: 1 }, {}, 'a schedule has no field for its forks'],
      [{}, { forks: 2 }, 'a schedule has no field for its forks'],
      [{ job_slice_count: 2 }, {}, 'a schedule has no field for its job_slice_count'],
      [{ scm_branch: 'next' }, {}, 'a schedule has no field for its scm_branch'],
      [{}, { start_at_task: 'late' }, 'a schedule has no field for its start_at_task'],
      [{ job_type: 'scan' }, {}, 'its job_type is scan'],
      [{ related: { instance_groups: [{ name: 'dmz' }] } }, {}, 'it runs in instance_groups, which a schedule does'],
      [{ limit: 'web1' }, { ask_limit_on_launch: false }, 'its template does not ask for its limit'],
      [{ diff_mode: true }, { ask_diff_mode_on_launch: false }, 'its template does not ask for its diff_mode'],
      [{ inventory: { name: 'B' } }, { ask_inventory_on_launch: false }, 'its template does not ask for its inventory'],
      [{ extra_data: { a: 1 } }, { ask_variables_on_launch: false }, 'its template does not ask for its extra_data'],
      [{ limit: ['web1'] }, {}, 'its field limit is not a text'],
      [{ inventory: 5 }, {}, 'its field inventory has no fields'],
      [{ enabled: 'perhaps' }, {}, 'its field enabled is neither true nor false'],
      [
        { extra_data: { db_password: 'x' } },
        {},
        'its variable db_password may be a credential; keep it with svc secret',
      ],
      [
        { extra_data: { a: [{ b: '$encrypted$' }] } },
        {},
        'its variable b may be a credential; keep it with svc secret',
      ],
      [{ extra_data: { ansible_user: 'x' } }, {}, 'extra_vars: "ansible_user": variables that begin with ansible_'],
      [{}, { extra_vars: 'a: [' }, 'its field extra_vars cannot be read'],
      [{}, { survey_enabled: true }, 'its survey is not in the file, and decides variables'],
      [{ extra_data: { b: 1 } }, { survey_enabled: true, related: spec('a') }, 'its survey decides the variable a'],
      [{}, { inventory: null }, 'it has no inventory'],
      [{ rrule: `${DAILY} EXRULE:FREQ=WEEKLY;BYDAY=SU` }, {}, 'no cron line says'],
      [{ rrule: `${DAILY} RRULE:FREQ=WEEKLY;BYDAY=SU` }, {}, 'no cron line says'],
      [{ rrule: DAILY.replace('0000Z', '0030Z') }, {}, 'no cron line says'],
      [{ rrule: DAILY.replace('0000Z', '0000') }, {}, 'no cron line says'],
      [{ rrule: DAILY.replace('2025', '2027') }, {}, 'it begins on 2027-01-01; a schedule begins when it is enabled'],
    ] as [Json, Json, string][]) {
      const { entry, left } = await ofAwx(schedule, template);
      assert.equal(entry, undefined, why);
      assert.ok(left[0]?.startsWith(`Left out: Patch, day: ${why}`), `${left[0]}: ${why}`);
      assert.equal(left.length, 1);
    }
  });

  test('is left out where its time-out, or that of its template, is not a number of whole seconds', async () => {
    for (const timeout of ['abc', -5, '-5', 1.5, '1.5', '0x10', '1e3', 1e300]) {
      const why = `its timeout is ${JSON.stringify(String(timeout))}; expected whole seconds, at least 0.`;
      for (const { entry, left } of [await ofAwx({ timeout }), await ofAwx({}, { timeout })])
        assert.deepEqual([entry, left], [undefined, [`Left out: Patch, day: ${why}`]]);
    }
    for (const timeout of [0, '0', '', null]) assert.equal((await ofAwx({ timeout })).entry?.['timeout'], undefined);
    assert.equal((await ofAwx({ timeout: ' 90 ' })).entry?.['timeout'], '90s');
  });

  test('is left out with a branch or a first task that is named 0, and kept with 0 forks or 0 slices', async () => {
    for (const field of ['scm_branch', 'start_at_task']) {
      const why = `a schedule has no field for its ${field}`;
      for (const { entry, left } of [await ofAwx({ [field]: '0' }), await ofAwx({}, { [field]: 0 })])
        assert.deepEqual([entry, left], [undefined, [`Left out: Patch, day: ${why}.`]]);
    }
    const neutral = { forks: 0, job_slice_count: 0, scm_branch: '', start_at_task: null };
    for (const { entry, left } of [await ofAwx(neutral), await ofAwx({ job_slice_count: 1 }, neutral)])
      assert.deepEqual([entry?.['playbook'], left], ['x.yml', []]);
  });

  test('has a variable that takes its value from another one', async () => {
    const { entry } = await ofAwx({}, { extra_vars: { db_password: '{{ vault_db }}' } });
    assert.deepEqual(entry?.['extra_vars'], { db_password: '{{ vault_db }}' });
  });

  test('runs at the minutes and hours of its rule, whatever its start', async () => {
    for (const [rule, cron] of [
      ['DTSTART:20250101T000700Z RRULE:FREQ=MINUTELY;INTERVAL=15', '7-59/15 * * * *'],
      ['DTSTART:20250101T002200Z RRULE:FREQ=MINUTELY;INTERVAL=15', '7-59/15 * * * *'],
      ['DTSTART:20250101T003000Z RRULE:FREQ=MINUTELY;INTERVAL=30', '*/30 * * * *'],
      ['DTSTART:20250101T000700Z RRULE:FREQ=MINUTELY;INTERVAL=60', '7 * * * *'],
      ['DTSTART:20250101T000700Z RRULE:FREQ=MINUTELY', '* * * * *'],
      ['DTSTART:20250101T110700Z RRULE:FREQ=HOURLY;INTERVAL=6', '7 5-23/6 * * *'],
      ['DTSTART:20250101T060700Z RRULE:FREQ=HOURLY;INTERVAL=6', '7 */6 * * *'],
      ['DTSTART:20250101T060700Z RRULE:FREQ=HOURLY;INTERVAL=24', '7 6 * * *'],
      ['DTSTART:20250101T060700Z\nRRULE:FREQ=WEEKLY;WKST=MO', '7 6 * * 3'],
      ['DTSTART:20250101T000700Z RRULE:FREQ=MINUTELY;INTERVAL=7', undefined],
      ['DTSTART:20250101T000700Z RRULE:FREQ=MINUTELY;INTERVAL=0', undefined],
      ['DTSTART:20250101T000700Z RRULE:FREQ=DAILY;FREQ=HOURLY', undefined],
      ['DTSTART:20251301T000700Z RRULE:FREQ=DAILY', undefined],
    ] as const)
      assert.equal((await ofAwx({ rrule: rule })).entry?.['cron'], cron, rule);
  });

  test('names inventories of the same title in two organizations as two', async () => {
    const template = (name: string): object => ({
      name,
      playbook: 'x.yml',
      project: { name: 'Ops' },
      inventory: inventoryOf(name),
      related: { schedules: [{ name: 'day', rrule: DAILY }] },
    });
    const { schedules } = await imported('awx', {
      inventory: [inventoryOf('A'), inventoryOf('B')],
      job_templates: [template('A'), template('B'), template('C')],
    });
    assert.deepEqual(
      Object.values(schedules).map((each) => each['inventory']),
      ['prod', 'prod-2', 'prod-3'],
    );
  });

  test('does not bring files of a project that is not of git', async () => {
    const projects = [{ name: 'Ops', scm_type: 'svn', scm_url: 'https://svn.example.org/ops' }];
    const { notes } = await imported('awx', { projects, job_templates: [] });
    assert.deepEqual(notes, ['Left out: project Ops: its files come by svn; add a source of a directory.']);
  });
});

async function ofSemaphore(schedule: Json, template: Json = {}, environment: Json = {}) {
  const base = { name: 'Patch', playbook: 'x.yml', repository: 'Ops', inventory: 'Prod' };
  const { schedules, notes } = await imported('semaphore', {
    repositories: [{ name: 'Ops', git_url: 'https://git.example.org/ops.git', git_branch: 'main' }],
    environments: [{ name: 'Blue', json: '{"color": "blue"}', ...environment }],
    templates: [{ ...base, ...template }],
    schedules: [{ name: 'day', cron_format: '0 4 * * *', template: 'Patch', ...schedule }],
  });
  return { entry: schedules['day'], left: notes.filter((note) => note.startsWith('Left out')) };
}

describe('A schedule of Semaphore', () => {
  test('keeps the parameters of its runs, of its template and of its arguments', async () => {
    const params = { limit: ['web1', 'web2'], tags: ['a'], dry_run: true, diff: true };
    const task_params = { params, environment: '{"size": 2}', inventory: 'Staging' };
    const template = {
      environment: 'Blue',
      arguments: '["--skip-tags", "c,d", "-vvv"]',
      task_params: { limit: ['all'], skip_tags: ['b'] },
    };
    const { entry } = await ofSemaphore({ task_params }, template);
    assert.deepEqual(entry, {
      cron: '0 4 * * *',
      playbook: 'x.yml',
      source: 'ops',
      inventory: 'staging',
      check: true,
      diff: true,
      limit: 'web1,web2',
      tags: ['a'],
      skip_tags: ['b', 'c', 'd'],
      extra_vars: { color: 'blue', size: 2 },
      enabled: false,
    });
    const said = { arguments: ['-C', '-D', '-l', 'web1', '--tags=a,b'] };
    assert.deepEqual(Object.entries((await ofSemaphore({}, said)).entry ?? {}).slice(4, -1), [
      ['check', true],
      ['diff', true],
      ['limit', 'web1'],
      ['tags', ['a', 'b']],
    ]);
  });

  test('is left out where it has something that a schedule cannot say, or is disabled', async () => {
    const limited = { arguments: '["--limit", "web2"]', task_params: { limit: ['web1'] } };
    for (const [schedule, template, why] of [
      [{ active: false }, {}, 'it is disabled there'],
      [{ delete_after_run: true }, {}, 'it runs once'],
      [{ type: 'event' }, {}, 'its type is event'],
      [{ repository_id: 3 }, {}, 'it runs only after a new commit'],
      [{ task_params: { git_branch: 'next' } }, {}, 'a schedule has no field for its git_branch'],
      [{}, { git_branch: 'next' }, 'a schedule has no field for its git_branch'],
      [{}, { arguments: '["--start-at-task", "x"]' }, 'a schedule has no field for its argument "--start-at-task"'],
      [{}, { arguments: '["-e", "a=1"]' }, 'a schedule has no field for its argument "-e"'],
      [{}, { arguments: '--limit web' }, 'its field arguments is not a list of texts'],
      [{ task_params: { arguments: '["-C"]' } }, {}, 'its template does not take its arguments'],
      [{}, limited, 'it has more than one limit'],
      [{}, { environment: 'Gone' }, 'its environment "Gone" is missing in the file'],
      [{ task_params: { environment: '{"token": "x"}' } }, {}, 'its variable token may be a credential'],
      [{ task_params: { secret: '{"a": "x"}' } }, {}, 'its secret variables have no place in a file'],
      [
        { task_params: { params: { limit: ['web1'] } } },
        { task_params: { allow_override_limit: false } },
        'its template does not take its limit',
      ],
      [
        { task_params: { inventory: 'B' } },
        { task_params: { allow_override_inventory: false } },
        'its template does not take its inventory',
      ],
    ] as [Json, Json, string][]) {
      const { entry, left } = await ofSemaphore(schedule, template);
      assert.equal(entry, undefined, why);
      assert.ok(left[0]?.startsWith(`Left out: Patch (day): ${why}`), `${left[0]}: ${why}`);
    }
    assert.deepEqual((await ofSemaphore({}, { runner_tag: 'dmz' })).left.slice(0, 1), [
      'Left out: Patch: it runs on runners with a tag, which a schedule does not have.',
    ]);
  });

  test('is left out where its survey requires a variable that neither its environments nor it have', async () => {
    const [color, size] = ['color', 'size'].map((name) => ({ name, required: true, default_value: '1' }));
    const environment = 'Blue';
    const why = 'its survey requires the variable "size", which neither its environments nor its schedule have';
    for (const survey_vars of [[size], [color, { ...size, required: 1 }]]) {
      const { entry, left } = await ofSemaphore({}, { environment, survey_vars });
      assert.deepEqual([entry, left], [undefined, [`Left out: Patch (day): ${why}.`]]);
    }
    const { left } = await ofSemaphore({}, { survey_vars: 'size' });
    assert.deepEqual(left, ['Left out: Patch (day): its field survey_vars is not a list.']);
    const given = { task_params: { environment: '{"size": 2}' } };
    const { entry } = await ofSemaphore(given, { environment, survey_vars: [size] });
    assert.deepEqual(entry?.['extra_vars'], { color: 'blue', size: 2 });
    for (const question of [color, { ...size, required: false }])
      assert.ok((await ofSemaphore({}, { environment, survey_vars: [question] })).entry !== undefined);
  });

  test('is left out where one of its environments has variables of the process', async () => {
    for (const env of ['{"LANG": "C"}', { LANG: 'C' }, '{"LANG": ""}']) {
      const { entry, left } = await ofSemaphore({}, { environments: ['Blue'] }, { env });
      const why = 'a schedule has no field for env of its environment "Blue"';
      assert.deepEqual([entry, left], [undefined, [`Left out: Patch (day): ${why}.`]]);
      assert.equal((await ofSemaphore({}, {}, { env })).entry?.['playbook'], 'x.yml');
    }
    const { left } = await ofSemaphore({}, { environment: 'Blue' }, { env: '[' });
    assert.match(left[0] ?? '', /^Left out: Patch \(day\): its field env cannot be read/);
    for (const env of ['{}', '', null, {}]) {
      const { entry } = await ofSemaphore({}, { environment: 'Blue' }, { env });
      assert.deepEqual(entry?.['extra_vars'], { color: 'blue' });
    }
  });
});
