import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../domain/failure.ts';
import { parseInput } from './parse.ts';
import { OPERATIONS } from '../table.ts';

function refusal(id: string, raw: unknown): string {
  const operation = OPERATIONS.find((row) => row.id === id);
  assert.ok(operation);
  try {
    parseInput(operation.input, raw);
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, 'invalid_argument');
    return error.message;
  }
  return 'was accepted';
}

test('the message for a missing field says required, and that for a wrong type what was expected', () => {
  assert.equal(refusal('command.run', { inventory: 'localhost' }), 'command: this field is required.');
  assert.equal(
    refusal('command.run', { inventory: 'localhost', command: 'true' }),
    'command: expected a list of words.',
  );
  assert.match(
    refusal('command.run', { inventory: 'localhost', command: ['true'], timeout: 30 }),
    /^timeout: expected a text, not a number\.$/,
  );
  assert.equal(refusal('command.run', { inventory: null, command: ['true'] }), 'inventory: expected a text, not null.');
  assert.equal(
    refusal('command.run', { inventory: 'localhost', command: ['true', true], egress_ports: 22 }),
    'command.1: expected a text, not true. egress_ports: expected a list, not a number.',
  );
  assert.equal(refusal('job.list', { limit: 'abc' }), 'limit: expected a whole number, 0 for all.');
  assert.equal(refusal('job.list', { limit: 1.5 }), 'limit: expected a whole number, 0 for all.');
});
