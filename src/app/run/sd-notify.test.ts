import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { openSystemCalls } from '../../runners/sandbox/kernel/system-call.ts';
import { serviceManager, unixAddress } from './sd-notify.ts';

/** Of the two processors that the service runs on. */
const CALLS = { x64: { bind: 49, recvfrom: 45 }, arm64: { bind: 200, recvfrom: 207 } };
const MSG_DONTWAIT = 0x40;
const EAGAIN = -11;

/** A socket as systemd has it; `received` takes all messages that have arrived. */
function managerSocket(t: TestContext, path: string): () => string[] {
  const system = openSystemCalls();
  const { bind, recvfrom } = CALLS[process.arch as keyof typeof CALLS];
  const fd = system.call(system.numbers.inspected.socket, 1, 0x80002, 0);
  t.after(() => closeSync(fd));
  const address = unixAddress(path);
  assert.equal(system.call(bind, fd, address, address.length), 0);
  return () => {
    const messages: string[] = [];
    for (;;) {
      const buffer = Buffer.alloc(4_096);
      const length = system.call(recvfrom, fd, buffer, buffer.length, MSG_DONTWAIT, 0, 0);
      if (length === EAGAIN) return messages;
      assert.ok(length > 0, `recvfrom answered ${length}`);
      messages.push(buffer.subarray(0, length).toString());
    }
  };
}

interface Due {
  readonly ms: number;
  work(): void;
}

function directory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-notify-'));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

const noProblem = (error: Error): never => assert.fail(error);

for (const kind of ['a file', 'a name without a file'] as const) {
  test(`the manager behind ${kind} gets the start and the stop`, (t) => {
    const path = kind === 'a file' ? join(directory(t), 'notify') : `@gatehouse-test-${process.pid}`;
    const received = managerSocket(t, path);
    const manager = serviceManager({ NOTIFY_SOCKET: path }, systemClock, noProblem);
    assert.deepEqual(received(), []);
    manager.ready('on http://127.0.0.1:8420');
    assert.deepEqual(received(), ['READY=1\nSTATUS=on http://127.0.0.1:8420\n']);
    manager.stopping();
    assert.deepEqual(received(), ['STOPPING=1\n']);
  });
}

test('the watchdog gets two messages in its time, from the start to the stop, and only for this process', (t) => {
  const path = join(directory(t), 'notify');
  const received = managerSocket(t, path);
  const due: Due[] = [];
  const clock = {
    ...systemClock,
    after(ms: number, work: () => void) {
      const added = { ms, work };
      due.push(added);
      return () => void due.splice(due.indexOf(added), 1);
    },
  };
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '30000000', WATCHDOG_PID: String(process.pid) };
  const manager = serviceManager(env, clock, noProblem);
  assert.equal(due.length, 0);
  manager.ready('x');
  received();
  for (let n = 0; n < 3; n += 1) {
    const entry = due.shift();
    assert.equal(entry?.ms, 15_000);
    entry.work();
    assert.deepEqual(received(), ['WATCHDOG=1\n']);
  }
  manager.stopping();
  assert.equal(due.length, 0);
  const others = serviceManager({ ...env, WATCHDOG_PID: '1' }, clock, noProblem);
  others.ready('x');
  assert.equal(due.length, 0);
});

test('without a manager nothing is sent; one that is gone is a problem and not a failure', (t) => {
  serviceManager({}, systemClock, noProblem).ready('x');
  const problems: string[] = [];
  const path = join(directory(t), 'gone');
  serviceManager({ NOTIFY_SOCKET: path }, systemClock, ({ message }) => problems.push(message)).ready('x');
  assert.deepEqual(problems, ['the service manager was not notified: sendto failed with error 2']);
});
