import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startChild } from './child.ts';
import { openConnections } from './connections.ts';
import { errorOf } from './errors.ts';
import { openMachine } from './machine.ts';
import { mapMemory } from './memory.ts';
import type { LaunchOrder } from './steps.ts';
import { ANY_RESULT, CallList, LIST_BYTES } from './records.ts';
import { needs } from '../../../test/support/tools.ts';

const NO_LINUX = needs('Linux');
const ACCOUNT = process.getuid?.() === 0 ? { uid: 64_123, gid: 64_124 } : null;
const NO_CALL = 0x7fffn;
const RECORD_WORDS = 8;

/** Where the records begin, in words. */
const wordOf = (list: CallList, address: bigint): number => Number(list.start - address) / 8;

describe('the steps of a launch', { skip: NO_LINUX }, () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-steps-')));
  const marker = join(dir, 'started');

  before(() => {
    if (ACCOUNT !== null) chownSync(dir, ACCOUNT.uid, ACCOUNT.gid);
    chmodSync(dir, 0o700);
  });
  after(() => rmSync(dir, { recursive: true }));

  const order: LaunchOrder = {
    argv: ['touch', marker],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    account: ACCOUNT,
    policy: { readable: ['/etc/hostname'], writable: [dir], connectPorts: [22] },
    limits: { addressSpaceBytes: 1 << 30 },
  };

  /** Runs the list with the call at `index` replaced by one that the kernel does not have. */
  async function run(index: number | null): Promise<string | null> {
    const { system, code, steps, input, children } = openMachine();
    const memory = mapMemory(system, LIST_BYTES);
    const list = new CallList(memory);
    const connections = openConnections(system, input);
    steps.addUntilWaiting(list, connections.ends);
    steps.addOrder(list, order);
    if (index !== null) memory.words[wordOf(list, memory.address) + index * RECORD_WORDS] = NO_CALL;
    const pid = startChild(system, code, list);
    connections.closeEnds();
    const { promise, resolve } = Promise.withResolvers();
    children.add(pid, resolve);
    connections.control.on('error', () => undefined).write('s');
    await promise;
    for (const stream of [connections.stdout, connections.stderr, connections.control]) stream.destroy();
    return errorOf(list, 'touch')?.message ?? null;
  }

  /** Where a failure would stop the list: at most three places of each step, and the first folder of PATH. */
  function failPoints(): { readonly index: number; readonly name: string }[] {
    const { system, steps, input } = openMachine();
    const memory = mapMemory(system, LIST_BYTES);
    const list = new CallList(memory);
    const connections = openConnections(system, input);
    steps.addUntilWaiting(list, connections.ends);
    steps.addOrder(list, order);
    connections.closeEnds();
    for (const stream of [connections.stdout, connections.stderr, connections.control]) stream.destroy();
    const first = wordOf(list, memory.address);
    const seen = new Map<string, number>();
    return list.steps.flatMap(({ name }, index) => {
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      const most = name === 'executing' ? 1 : 3;
      return count > most || memory.words[first + index * RECORD_WORDS + 7] === ANY_RESULT ? [] : [{ index, name }];
    });
  }

  it('T34: each that fails is named, and no tool is started', { skip: needs('Landlock ABI 4') }, async () => {
    const points = failPoints();
    assert.ok(new Set(points.map(({ name }) => name)).size >= 18, JSON.stringify(points));
    for (const { index, name } of points) {
      const message = await run(index);
      const said = {
        'waiting for the order': 'the order to start it was not given',
        executing: 'executing touch failed (ENOSYS)',
      }[name];
      assert.equal(message, `The tool never started: ${said ?? `${name} failed (ENOSYS)`}.`);
      assert.equal(existsSync(marker), false, name);
    }
  });

  it('ends in the tool when none fails', { skip: needs('Landlock ABI 4') }, async () => {
    assert.equal(await run(null), null);
    assert.equal(existsSync(marker), true);
  });
});
