import assert from 'node:assert/strict';
import type { Program } from '../../../support/program.ts';
import { type Scenario, send } from '../../../support/scenario.ts';

const UNKNOWN = 'job_00000000000000000000000000';

async function queued(program: Program): Promise<{ job: string }> {
  return { job: await program.queue() };
}

async function running(program: Program): Promise<{ job: string }> {
  const given = await queued(program);
  await program.claim();
  return given;
}

async function ended(program: Program): Promise<{ job: string }> {
  const given = await running(program);
  await program.print(given.job, ['one', 'two']);
  await program.finish(given.job, { state: 'succeeded', exitCode: 0 });
  return given;
}

export const JOB_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'job.list',
    rule: 'is an empty list where there is nothing, never absent',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs' },
    expect: { status: 200, kind: 'job.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'job.list',
    rule: 'is newest first and holds as many as asked for',
    async given(program) {
      const old = await program.queue();
      await program.queue();
      const young = await program.queue();
      return { old, young };
    },
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs?limit=2' },
    expect: { status: 200, kind: 'job.list' },
    expectNot: ['$old', 'spec', 'owners'],
    async afterwards(_program, { young }, body) {
      const { data } = body as { data: { id: string }[] };
      assert.deepEqual([data.length, data[0]?.id], [2, young]);
    },
  },
  {
    operation: 'job.list',
    rule: 'has the same bytes whether its limit is 0 or not reached',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs?limit=0' },
    expect: { status: 200, kind: 'job.list', data: [{ state: 'succeeded', exit_code: 0 }] },
    async afterwards(program, _given, body) {
      const bounded = await send(program, 'readonly', { method: 'GET', path: '/api/v1/jobs' });
      assert.equal(`${JSON.stringify(body)}\n`, bounded.text);
    },
  },
  {
    operation: 'job.list',
    rule: 'filters by state',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs?state=queued' },
    expect: { status: 200, kind: 'job.list' },
    expectNot: ['$job'],
  },
  {
    operation: 'job.list',
    rule: 'refuses an unknown state and names the known ones',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs?state=done' },
    expect: { status: 400, code: 'invalid_argument', message: /^state: expected one of .*degraded/ },
  },
  {
    operation: 'job.list',
    rule: 'refuses a negative limit',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs?limit=-1' },
    expect: { status: 400, code: 'invalid_argument', message: /^limit: / },
  },
  {
    operation: 'job.get',
    rule: 'shows a queued job without progress and without what it would run',
    given: queued,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job' },
    expect: {
      status: 200,
      kind: 'job.get',
      data: { state: 'queued', runbook: 'command:localhost', exit_code: null, started_at: null },
    },
    expectNot: ['progress', 'privileged', 'expires_at', '"true"'],
  },
  {
    operation: 'job.get',
    rule: 'is 404 for a well-formed id that no job has',
    as: 'readonly',
    send: { method: 'GET', path: `/api/v1/jobs/${UNKNOWN}` },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'job.get',
    rule: 'is 400 for a malformed id',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/job%2F1' },
    expect: { status: 400, code: 'invalid_argument', message: /^id: / },
  },
  {
    operation: 'job.events',
    rule: 'begins with the creation of the job and continues after the cursor',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job/events?since=2' },
    expect: {
      status: 200,
      kind: 'job.events',
      data: [
        { seq: 3, type: 'log', stream: 'stdout', text: 'two' },
        { seq: 4, type: 'state', state: 'succeeded', exit_code: 0 },
      ],
    },
  },
  {
    operation: 'job.events',
    rule: 'begins with the newest events where only a number of them is wanted',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job/events?last=1' },
    expect: { status: 200, kind: 'job.events', data: [{ seq: 4, type: 'state', state: 'succeeded', exit_code: 0 }] },
  },
  {
    operation: 'job.events',
    rule: 'is 400 for a number of newest events that no answer has',
    as: 'readonly',
    send: { method: 'GET', path: `/api/v1/jobs/${UNKNOWN}/events?last=5001` },
    expect: { status: 400, code: 'invalid_argument', message: /^last: expected at most 5000/ },
  },
  {
    operation: 'job.tail',
    rule: 'streams what was and ends with the job',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job/stream' },
    expect: {
      status: 200,
      headers: { 'content-type': /^text\/event-stream/, 'x-accel-buffering': 'no', 'cache-control': 'no-store' },
      text: new RegExp(
        String.raw`^id: 1\nevent: state\ndata: \{"seq":1,.*\n\nid: 2\nevent: log\n.*event: end\ndata: ` +
          String.raw`\{"state":"succeeded","exit_code":0\}\n\n$`,
        's',
      ),
    },
  },
  {
    operation: 'job.tail',
    rule: 'is an envelope of 404 before any stream begins',
    as: 'readonly',
    send: { method: 'GET', path: `/api/v1/jobs/${UNKNOWN}/stream` },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'job.tail',
    rule: 'continues after the Last-Event-ID, which is newer than the since of the URL',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job/stream?since=1', headers: { 'last-event-id': '3' } },
    expect: { status: 200, text: /^id: 4\nevent: state\n/ },
  },
  {
    operation: 'job.tail',
    rule: 'refuses a Last-Event-ID that is no sequence number',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job/stream', headers: { 'last-event-id': 'x' } },
    expect: { status: 400, code: 'invalid_argument', message: /^Last-Event-ID: / },
  },
  {
    operation: 'job.cancel',
    rule: 'cancels a queued job at once',
    given: queued,
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/$job/cancel' },
    expect: { status: 200, kind: 'job.get', data: { state: 'cancelled' } },
  },
  {
    operation: 'job.cancel',
    rule: 'asks a running job to stop and shows it as it is',
    given: running,
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/$job/cancel', body: {} },
    expect: { status: 200, kind: 'job.get', data: { state: 'running' } },
    afterwards: async (program) => assert.equal(program.wakes(), 1),
  },
  {
    operation: 'job.cancel',
    rule: 'is a conflict when the job has ended',
    given: ended,
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/$job/cancel' },
    expect: { status: 409, code: 'conflict' },
  },
  {
    operation: 'job.cancel',
    rule: 'takes the id from the path and from nowhere else',
    given: queued,
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/$job/cancel', body: { id: UNKNOWN } },
    expect: { status: 400, code: 'invalid_argument', message: /^"id": no such field here/ },
  },
  {
    operation: 'maintenance.interrupted',
    rule: 'lists interrupted jobs only',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/maintenance/interrupted' },
    expect: { status: 200, kind: 'job.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'job.result',
    rule: 'shows per host what a command printed',
    given: ended,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job/result' },
    expect: {
      status: 200,
      kind: 'command.result',
      data: {
        state: 'succeeded',
        hosts: [{ host: 'localhost', rc: 0, changed: null, stdout: 'one\ntwo\n', stderr: '', status: 'ok' }],
      },
    },
  },
  {
    operation: 'job.result',
    rule: 'is a conflict while the job has not ended',
    given: running,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/jobs/$job/result' },
    expect: { status: 409, code: 'conflict' },
  },
];
