/** The entry of the sweep of checks. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { keepTargetState } from '../../store/checks/sweep.ts';
import { reportSweep } from '../../store/checks/shards.ts';
import { putCheck } from '../../../test/support/checks/sweep-fixture.ts';
import { install, type Installation } from '../../../test/support/doctor-facts.ts';
import { examineChecks } from './checks.ts';
import { wordsOfCode } from '../../lib/error-code.ts';
import { toJson } from '../../lib/json.ts';
import type { Finding } from '../entry.ts';

let installation: Installation;

function examined(): Promise<Finding> {
  return examineChecks({ ...installation.parts(), began: { wallMs: 0, monotonicMs: 0 } });
}

describe('The entry checks of the doctor', () => {
  before(async () => {
    installation = await install();
  });
  after(() => installation.remove());

  test('A code of the system or of PostgreSQL is said in words, and an unknown one as it is', () => {
    assert.deepEqual(['ECONNREFUSED', 'ENOTFOUND', '3D000', 'XX000'].map(wordsOfCode), [
      'connection refused (ECONNREFUSED)',
      'the name of the server cannot be resolved (ENOTFOUND)',
      'the database does not exist (3D000)',
      'error XX000',
    ]);
  });

  test('checks tells whether a daemon probes the targets, and whether it is in time', async () => {
    const { store, clock } = installation;
    assert.deepEqual(await examined(), { status: 'ok', detail: 'No check is enabled.' });
    await putCheck(store, 'web', ['a', 'b']);
    await putCheck(store, 'off', ['c'], { enabled: 0 });
    const silent = await examined();
    assert.equal(silent.status, 'warn');
    assert.match(silent.detail, /^Checks: 1, targets: 2; no daemon has probed them for three minutes\./);
    const begun = { targets: 2, probes: 0, late: 0, longestLateMs: 0, slow: 0, missed: 0, faults: 0, faulty: [] };
    await store.write((tx) => reportSweep(tx, 'one', toJson(begun), 0));
    assert.deepEqual(await examined(), { status: 'ok', detail: 'Checks: 1, targets: 2; no probe in the last minute.' });
    const good = { targets: 2, probes: 12, late: 0, longestLateMs: 40, slow: 0, missed: 0, faults: 0, faulty: [] };
    await store.write((tx) => reportSweep(tx, 'one', toJson(good), 0));
    assert.deepEqual(await examined(), {
      status: 'ok',
      detail: 'Checks: 1, targets: 2; 12 probes in the last minute, all in time.',
    });
    const bad = { targets: 3, probes: 8, late: 5, longestLateMs: 61_200, slow: 4, missed: 2, faults: 0, faulty: [] };
    await store.write((tx) => reportSweep(tx, 'two', toJson(bad), 0));
    const { status, detail } = await examined();
    assert.equal(status, 'warn');
    assert.match(detail, /^Checks: 1, targets: 5; 20 probes in the last minute, of which 5 began late, up to 1m1s/);
    assert.match(detail, /; 4 took longer than the interval .*; 2 count for nothing, because the canary/);
    clock.advance(180_001);
    assert.equal((await examined()).status, 'warn');
  });

  test('B4: checks names the checks whose probes could not be made, with the reason', async () => {
    const { store } = installation;
    const faulty = [
      { check: 'web', reason: 'a fault of the service, see its log' },
      { check: 'ping-1', reason: 'This machine has no more sockets.' },
    ];
    const counts = { targets: 2, probes: 12, late: 0, longestLateMs: 40, slow: 0, missed: 0, faults: 3 };
    await store.write((tx) => reportSweep(tx, 'one', toJson({ ...counts, faulty }), 0));
    assert.deepEqual(await examined(), {
      status: 'warn',
      detail:
        'Checks: 1, targets: 2; 12 probes in the last minute, of which 3 could not be made: checks web (a fault of ' +
        'the service, see its log); checks ping-1 (This machine has no more sockets).',
    });
    await store.write((tx) => reportSweep(tx, 'one', toJson({ ...counts, faults: 0, faulty: [] }), 0));
  });

  test('B5: checks names targets that were never up', async () => {
    const { store } = installation;
    const { detail } = await examined();
    const nothing = { lastChange: 1, pending: null, durationMs: 3, detail: null, certificateDays: null };
    const down = (status: 'up' | 'down', wasUp: 0 | 1, target: string): Promise<boolean> => {
      const check = target === 'c' ? 'off' : 'web';
      const state = { ...nothing, check, target, status, wasUp, from: 'unknown', orFrom: 'down' } as const;
      return store.write((tx) => keepTargetState(tx, state));
    };
    await down('down', 0, 'a');
    await down('down', 1, 'b');
    await down('down', 0, 'c');
    assert.deepEqual(await examined(), {
      status: 'warn',
      detail: `${detail} Never up: a of web. See why: svc check probe NAME.`,
    });
    await down('up', 1, 'a');
    assert.equal((await examined()).detail, detail);
    installation.clock.advance(180_001);
  });

  test('T88: checks warns where they take more probes than the limit, and says the rest too', async () => {
    const { store } = installation;
    await putCheck(store, 'web', ['a', 'b'], { interval_ms: 30_000 });
    await putCheck(store, 'off', ['c'], { enabled: 0, interval_ms: 1_000 });
    const settings = { ...installation.parts().settings, checkProbesPerSecond: 1 };
    const atLimit = (): Promise<Finding> =>
      examineChecks({ ...installation.parts({ settings }), began: { wallMs: 0, monotonicMs: 0 } });
    const { detail } = await examined();
    assert.deepEqual(await atLimit(), await examined());
    await putCheck(store, 'api', ['d'], { interval_ms: 1_000 });
    assert.deepEqual(await atLimit(), {
      status: 'warn',
      detail:
        `${detail.replace('Checks: 1, targets: 2', 'Checks: 2, targets: 3')} The enabled checks take 1.067 probes a ` +
        'second, and the limit is 1 (--check-probes-per-second): use longer intervals, or svc check disable NAME.',
    });
  });
});
