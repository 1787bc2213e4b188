/** The chaos test is worth what its checker is worth: each violation, made by hand, is found. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check } from '../../night/chaos/checker.ts';
import type { FinalJob, History } from '../../night/chaos/history.ts';
import type { EventJson } from '../../support/api-client.ts';
import type { WitnessLine } from '../../support/witness/witness.ts';

const AT = '2026-01-01T00:00:00.000Z';

function states(...path: string[]): EventJson[] {
  return path.map((state, index) => ({ seq: index + 1, at: AT, type: 'state', state, exit_code: null }));
}

function job(id: string, more: Partial<FinalJob> = {}): FinalJob {
  return {
    id,
    state: 'succeeded',
    concurrencyKey: null,
    requestKey: null,
    cancelRequested: false,
    events: states('queued', 'running', 'succeeded'),
    ...more,
  };
}

function line(what: WitnessLine['what'], jobId: string, key = 'k'): WitnessLine {
  return { what, pid: 1, jobId, key, atMs: 0 };
}

function history(more: Partial<History>): History {
  return { enqueued: [], cancelled: [], observed: [], jobs: [], witness: [], ledger: [], ...more };
}

function rules(more: Partial<History>): string[] {
  return check(history(more)).map((violation) => violation.rule);
}

function renumbered(...numbers: number[]): EventJson[] {
  return states('queued', 'running', 'succeeded').map((event, index) => ({ ...event, seq: numbers[index] ?? 0 }));
}

describe('the checker of the chaos test', () => {
  test('finds nothing wrong with a history in which nothing is wrong', () => {
    const found = check(
      history({
        enqueued: [
          { jobId: 'a', requestKey: 'r1' },
          { jobId: 'a', requestKey: 'r1' },
          { jobId: 'b', requestKey: null },
        ],
        cancelled: ['c'],
        observed: [
          { jobId: 'a', state: 'running' },
          { jobId: 'a', state: 'succeeded' },
        ],
        jobs: [
          job('a', { requestKey: 'r1' }),
          job('b', { concurrencyKey: 'k', state: 'interrupted', events: states('queued', 'running', 'interrupted') }),
          job('c', { state: 'cancelled', events: states('queued', 'cancelled') }),
          job('d', { concurrencyKey: 'k' }),
        ],
        // b was killed: it says no end, and its key's next holder did not find the lock taken.
        witness: [line('start', 'b'), line('start', 'd'), line('end', 'd')],
        ledger: ['a'],
      }),
    );
    assert.deepEqual(found, []);
  });

  test('I1: a job that was acknowledged and is not in the store is found', () => {
    assert.deepEqual(rules({ enqueued: [{ jobId: 'a', requestKey: null }] }), ['I1']);
  });

  test('I1: a request that made two jobs is found by its answers and by the rows', () => {
    const ledger = ['a', 'b'];
    const jobs = [job('a', { requestKey: 'r' }), job('b', { requestKey: 'r' })];
    assert.deepEqual(rules({ jobs, ledger }), ['I1']);
    const enqueued = [
      { jobId: 'a', requestKey: 'r' },
      { jobId: 'b', requestKey: 'r' },
    ];
    assert.deepEqual(
      rules({ enqueued, ledger, jobs: [job('a', { requestKey: 'r' }), job('b', { requestKey: 'other' })] }),
      ['I1'],
    );
  });

  test('I1: an acknowledged cancel that left no trace is found', () => {
    assert.deepEqual(rules({ cancelled: ['a'], jobs: [job('a')] }), ['I1']);
    assert.deepEqual(rules({ cancelled: ['a'], jobs: [job('a', { cancelRequested: true })] }), []);
  });

  test('I1: a request without its row in the ledger is found, and so is one with two', () => {
    const jobs = [job('a', { requestKey: 'r' })];
    assert.deepEqual(rules({ jobs }), ['I1']);
    assert.deepEqual(rules({ jobs, ledger: ['a', 'a'] }), ['I1']);
  });

  test('I2: a tool that started twice is found by the witness, by its own output and by its claims', () => {
    assert.deepEqual(rules({ jobs: [job('a')], witness: [line('start', 'a'), line('end', 'a'), line('start', 'a')] }), [
      'I2',
    ]);
    const printed = (seq: number): EventJson => ({ seq, at: AT, type: 'log', stream: 'stdout', text: 'start' });
    const [born, claimed] = states('queued', 'running');
    const events = [
      born!,
      claimed!,
      printed(3),
      printed(4),
      { seq: 5, at: AT, type: 'state', state: 'succeeded' } as EventJson,
    ];
    assert.deepEqual(rules({ jobs: [job('a', { events })] }), ['I2']);
    assert.deepEqual(rules({ jobs: [job('a', { events: states('queued', 'running', 'running', 'succeeded') })] }), [
      'I2',
      'I5',
    ]);
  });

  test('I3: a tool that finds the lock of its key taken is found', () => {
    assert.deepEqual(rules({ jobs: [job('a')], witness: [line('overlap', 'a'), line('start', 'a')] }), ['I3']);
  });

  test('I3: a tool that starts before the one that succeeded has ended is found', () => {
    assert.deepEqual(
      rules({ jobs: [job('a'), job('b')], witness: [line('start', 'a'), line('start', 'b'), line('end', 'a')] }),
      ['I3'],
    );
    assert.deepEqual(
      rules({ jobs: [job('a'), job('b')], witness: [line('start', 'a', 'x'), line('start', 'b', 'y')] }),
      [],
    );
  });

  test('I5: a move that is not allowed, a wrong birth and a row that its events contradict are found', () => {
    assert.deepEqual(rules({ jobs: [job('a', { events: states('queued', 'succeeded') })] }), ['I5']);
    assert.deepEqual(rules({ jobs: [job('a', { events: states('running', 'succeeded') })] }), ['I5']);
    assert.deepEqual(rules({ jobs: [job('a', { state: 'failed' })] }), ['I5']);
    const twice = states('queued', 'running', 'interrupted', 'succeeded');
    assert.deepEqual(rules({ jobs: [job('a', { events: twice })] }), ['I5']);
  });

  test('I5: a job that was seen in a final state and is in another one later is found', () => {
    assert.deepEqual(rules({ observed: [{ jobId: 'a', state: 'failed' }], jobs: [job('a')] }), ['I5']);
  });

  test('I6: a job that never comes to its end is found', () => {
    assert.deepEqual(rules({ jobs: [job('a', { state: 'running', events: states('queued', 'running') })] }), ['I6']);
    assert.deepEqual(rules({ jobs: [job('a', { state: 'queued', events: states('queued') })] }), ['I6']);
  });

  test('I9: a gap and a repeat in the sequence numbers are found', () => {
    assert.deepEqual(rules({ jobs: [job('a', { events: renumbered(1, 2, 4) })] }), ['I9']);
    assert.deepEqual(rules({ jobs: [job('a', { events: renumbered(1, 2, 2) })] }), ['I9']);
  });
});
