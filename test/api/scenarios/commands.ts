import assert from 'node:assert/strict';
import { type Scenario, send } from '../../support/scenario.ts';

const path = '/api/v1/commands/run';
const body = { inventory: 'localhost', command: ['uptime'] };

export const COMMAND_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'command.run',
    rule: 'queues a job and answers before it runs',
    as: 'operator',
    send: { method: 'POST', path, body: { ...body, timeout: '10m', egress_ports: [443, 443, 80] } },
    expect: { status: 202, kind: 'job.enqueued', data: { state: 'queued' } },
    expectNot: ['uptime'],
    afterwards: async (program) => assert.equal(program.wakes(), 1),
  },
  {
    operation: 'command.run',
    rule: 'names a field that is missing',
    as: 'operator',
    send: { method: 'POST', path, body: { inventory: 'localhost' } },
    expect: { status: 400, code: 'invalid_argument', message: /^command: / },
  },
  {
    operation: 'command.run',
    rule: 'refuses to leave the sandbox by the API',
    as: 'operator',
    send: { method: 'POST', path, body: { ...body, privileged: true } },
    expect: { status: 400, code: 'invalid_argument', message: /^"privileged": no such field here/ },
    async afterwards(program) {
      const jobs = await send(program, 'operator', { method: 'GET', path: '/api/v1/jobs' });
      assert.match(jobs.text, /"data":\[\]/);
    },
  },
  {
    operation: 'command.run',
    rule: 'is 404 for an unknown inventory',
    as: 'operator',
    send: { method: 'POST', path, body: { ...body, inventory: 'prod' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'command.run',
    rule: 'refuses a NUL, which would end an argument early',
    as: 'operator',
    send: { method: 'POST', path, body: { ...body, command: ['echo', 'a\0b'] } },
    expect: { status: 400, code: 'invalid_argument', message: /^command\.1: a NUL character/ },
  },
  {
    operation: 'command.run',
    rule: 'refuses half a surrogate pair, which would be read back as something else',
    as: 'operator',
    send: { method: 'POST', path, body: '{"inventory":"localhost","command":["echo","\\ud800"]}' },
    expect: { status: 400, code: 'invalid_argument', message: /^command\.1: half a surrogate pair/ },
  },
];
