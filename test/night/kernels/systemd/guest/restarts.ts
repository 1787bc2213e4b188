/** The daemon and systemd: reload, a daemon that hangs, one that is killed, a stop while jobs run. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { type Api, until } from '../../../../support/api-client.ts';
import { commandLines, GROUP, journalSince, mainPid, openApi, property, restartWith, run, UNIT } from './service.ts';

const TARGETS = '/var/lib/gatehouse/targets';
const START_MS = 120_000;
const WATCHDOG_S = 60;
/** A job that does not end by itself, and a process that has left its session. */
const ESCAPING = ['sh', '-c', 'env -i setsid sleep 8001 & sleep 8002'];
const LEFT = ['sleep 8001', 'sleep 8002'];
let api: Api;

const leftovers = (): string[] => commandLines().filter((line) => LEFT.includes(line));

/** Queues the escaping job and waits until its processes run. */
async function running(): Promise<string> {
  const id = await api.run(ESCAPING);
  await until('both processes of the job run', () => leftovers().length === LEFT.length);
  return id;
}

/** Waits until systemd has started another daemon, and answers its process id. */
async function successorOf(pid: number): Promise<number> {
  const isUp = (): boolean => property('SubState') === 'running' && ![0, pid].includes(mainPid());
  await until('systemd has started the service again', isUp, START_MS);
  return mainPid();
}

describe('The daemon and systemd', () => {
  before(() => {
    api = openApi();
  });

  test('systemctl reload reads the settings again in the same process', async () => {
    writeFileSync(TARGETS, 'first=https://127.0.0.1:9/one\n', { mode: 0o600 });
    run('chown', 'gatehouse:', TARGETS);
    await restartWith(`Environment=SVC_NOTIFY_FILE=${TARGETS}`);
    const pid = mainPid();
    const before = Date.now();
    writeFileSync(TARGETS, 'first=https://127.0.0.1:9/one\nsecond=https://127.0.0.1:9/two\n');
    run('systemctl', 'reload', UNIT);
    await until('the reload is logged', () => journalSince(before).includes('"transports":2'));
    writeFileSync(TARGETS, 'nonsense\n');
    run('systemctl', 'reload', UNIT);
    await until('the second is logged', () => journalSince(before).includes('reload failed: nothing has changed'));
    assert.equal(mainPid(), pid);
    assert.equal(property('SubState'), 'running');
  });

  test('the watchdog: a daemon that hangs is ended and started again, and its jobs are interrupted', async () => {
    await restartWith(`WatchdogSec=${WATCHDOG_S}`);
    const pid = mainPid();
    const id = await running();
    process.kill(pid, 'SIGSTOP');
    await successorOf(pid);
    assert.match(journalSince(0), /Watchdog timeout/);
    await api.waitFor(id, ['interrupted'], START_MS);
    assert.deepEqual(leftovers(), []);
  });

  test('F01: a daemon that is killed is started again, and nothing of its jobs is left', async (t) => {
    const pid = mainPid();
    const id = await running();
    const begun = performance.now();
    process.kill(pid, 'SIGKILL');
    await until('nothing of the job is left', () => leftovers().length === 0);
    t.diagnostic(`the processes of the job were gone after ${(performance.now() - begun).toFixed(0)} ms`);
    await successorOf(pid);
    await api.waitFor(id, ['interrupted'], START_MS);
    assert.deepEqual(
      readdirSync(GROUP).filter((name) => name.startsWith('job-')),
      [],
    );
  });

  test('systemctl stop ends the jobs, and the unit as a whole', async (t) => {
    const id = await running();
    const begun = performance.now();
    run('systemctl', 'stop', UNIT);
    t.diagnostic(`stopped in ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    assert.deepEqual([property('Result'), property('ExecMainStatus')], ['success', '0']);
    assert.deepEqual(leftovers(), []);
    assert.equal(existsSync(GROUP), false);
    await restartWith();
    await api.waitFor(id, ['interrupted'], START_MS);
  });
});
