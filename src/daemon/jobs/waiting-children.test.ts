import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Waiting } from '../../runners/launch/tool.ts';
import { once, WaitingChildren } from './waiting-children.ts';

interface Child extends Waiting {
  isWaiting: boolean;
}

function launcher(): { started: Child[]; prepare: () => Child } {
  const started: Child[] = [];
  const prepare = (): Child => {
    const pipe = { fd: -1, inode: 0 };
    const child: Child = {
      pid: started.length + 1,
      startTicks: 1,
      output: { stdout: pipe, stderr: pipe },
      isWaiting: true,
      giveUp: () => void (child.isWaiting = false),
    };
    started.push(child);
    return child;
  };
  return { started, prepare };
}

test('The children of a transaction that was not committed serve the next one', () => {
  const { started, prepare } = launcher();
  const children = new WaitingChildren({ prepare });
  children.begin();
  assert.deepEqual([children.next()?.pid, children.next()?.pid], [1, 2]);
  children.begin();
  assert.deepEqual([children.next()?.pid], [1]);
  children.taken();
  children.begin();
  assert.deepEqual([children.next()?.pid, children.next()?.pid], [2, 3]);
  children.giveUp();
  assert.deepEqual(
    started.map(({ isWaiting }) => isWaiting),
    [true, false, false],
    'a child of a job stays with it',
  );
});

test('A child that has ended is not given to a job', () => {
  const { started, prepare } = launcher();
  const children = new WaitingChildren({ prepare });
  children.next();
  children.begin();
  started[0]?.giveUp();
  assert.equal(children.next()?.pid, 2);
});

test('A value is answered once', () => {
  const take = once(7);
  assert.deepEqual([take(), take()], [7, null]);
});
