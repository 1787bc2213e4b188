/** A restart in place and what may come between two of its steps. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { DRAIN_MS, NODE, type Scene, scene } from '../../../test/support/restart/restart-scene.ts';
import { Failure } from '../../domain/failure.ts';
import { setCordon, setNodeCordon } from '../../store/maintenance/cordon.ts';
import { uncordonRestarts } from '../../store/maintenance/restarts.ts';
import type { RestartRow } from '../../store/schema/schema.ts';

const states = async (on: Scene): Promise<readonly [RestartRow['state'], boolean, number]> => [
  (await on.row()).state,
  await on.isCordoned(),
  on.executed(),
];

/** A daemon with a job, whose restart waits for it. */
async function draining(t: TestContext): Promise<Scene & { readonly job: string }> {
  const on = await scene(t);
  const job = (await on.start()) ?? assert.fail('no job was claimed');
  await on.request();
  await on.step();
  assert.deepEqual(await states(on), ['draining', true, 0]);
  return { ...on, job };
}

describe('F27: a restart in place', () => {
  test('is tried, waits for the jobs, and is executed; the next start ends it', async (t) => {
    const on = await draining(t);
    assert.equal(await on.start(), null, 'no claim after the cordon');
    await on.step();
    assert.deepEqual(await states(on), ['draining', true, 0]);
    await on.end(on.job);
    await on.step();
    assert.deepEqual(await states(on), ['executing', true, 1]);
    assert.equal(await on.start(), null);
    await on.startAgain();
    assert.deepEqual(await states(on), ['idle', false, 1]);
    assert.notEqual(await on.start(), null);
    assert.equal((await on.row()).digest, 'new');
  });

  for (const [what, where] of [
    ['is tried', 'trial'],
    ['is read', 'digest'],
  ] as const)
    test(`a second request while the program ${what} changes nothing`, async (t) => {
      const on = await scene(t);
      await on.request();
      const { requested_at: first } = await on.row();
      on.at[where] = () => on.request();
      await on.step();
      const { requested_at: last, state, forced } = await on.row();
      assert.deepEqual([last, state, forced], [first, 'draining', 0]);
    });

  test('a second request while jobs run changes nothing, and with force it cancels them', async (t) => {
    const on = await draining(t);
    await on.request();
    await on.step();
    assert.equal(await on.isCancelRequested(on.job), false);
    await on.request(true);
    await on.step();
    assert.deepEqual([await on.isCancelRequested(on.job), ...(await states(on))], [true, 'draining', true, 0]);
    assert.equal(await on.reasonOf(on.job), `cancelled by the forced restart of ${NODE}`);
    await on.end(on.job);
    await on.step();
    assert.deepEqual(await states(on), ['executing', true, 1]);
  });

  test('force while the program is tried is kept for the drain', async (t) => {
    const on = await scene(t);
    const job = (await on.start()) ?? assert.fail();
    on.at.trial = () => on.request(true);
    await on.request();
    for (const _ of [1, 2]) await on.step();
    assert.equal(await on.isCancelRequested(job), true);
  });

  test('a job that was claimed while the program was tried is waited for', async (t) => {
    const on = await scene(t);
    const job = Promise.withResolvers<string>();
    on.at.trial = async () => job.resolve((await on.start()) ?? assert.fail('no job was claimed'));
    await on.request();
    for (const _ of [1, 2]) await on.step();
    assert.deepEqual(await states(on), ['draining', true, 0]);
    await on.end(await job.promise);
    await on.step();
    assert.deepEqual(await states(on), ['executing', true, 1]);
  });

  test('F28: a job that requests it and does not end holds it until the bound; nothing is cancelled', async (t) => {
    const on = await draining(t);
    on.pass(DRAIN_MS);
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
    assert.match((await on.row()).reason ?? '', /^1 job still runs after the 15m/);
    assert.equal(await on.isCancelRequested(on.job), false);
    assert.notEqual(await on.start(), null);
  });

  test('jobs that do not end after force end it too, a minute after the bound', async (t) => {
    const on = await draining(t);
    await on.request(true);
    on.pass(DRAIN_MS + 59_000);
    await on.step();
    assert.equal((await on.row()).state, 'draining');
    on.pass(2_000);
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
  });

  test('uncordon aborts the drain, and jobs start', async (t) => {
    const on = await draining(t);
    await on.write((tx) => uncordonRestarts(tx, NODE, 'ann'));
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
    assert.equal((await on.row()).reason, 'ann has lifted the cordon');
    assert.notEqual(await on.start(), null);
  });

  test('cordon or uncordon while the program is tried: the restart continues, the cordon stays', async (t) => {
    for (const by of [null, 'ann']) {
      const on = await scene(t);
      on.at.trial = () =>
        on.write(async (tx) => {
          await setNodeCordon(tx, NODE, by);
          if (by === null) await uncordonRestarts(tx, NODE, 'ann');
        });
      await on.request();
      await on.step();
      assert.deepEqual(await states(on), ['draining', true, 0]);
      await on.step();
      await on.startAgain();
      assert.deepEqual(await states(on), ['idle', by !== null, 1]);
    }
  });

  test('uncordon between the last look and the decision: nothing is executed', async (t) => {
    const on = await draining(t);
    await on.end(on.job);
    on.at.digest = () => on.write((tx) => uncordonRestarts(tx, null, 'ann'));
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
  });

  test('uncordon after the decision comes too late, and the next start opens', async (t) => {
    const on = await draining(t);
    await on.end(on.job);
    await on.step();
    await on.write((tx) => uncordonRestarts(tx, NODE, 'ann'));
    assert.deepEqual(await states(on), ['executing', true, 1]);
    await on.startAgain();
    assert.deepEqual(await states(on), ['idle', false, 1]);
  });

  test('a second request after the decision changes nothing, also with force', async (t) => {
    const on = await draining(t);
    await on.end(on.job);
    await on.step();
    const { requested_at: first } = await on.row();
    for (const force of [false, true]) await on.request(force);
    assert.deepEqual([(await on.row()).requested_at, ...(await states(on))], [first, 'executing', true, 1]);
    await on.startAgain();
    assert.deepEqual(await states(on), ['idle', false, 1]);
  });

  test('the cordon that an operator sets in between stays, of the daemon or of the service', async (t) => {
    const on = await draining(t);
    await on.write((tx) => setNodeCordon(tx, NODE, 'ann'));
    await on.end(on.job);
    await on.step();
    await on.startAgain();
    assert.deepEqual(await states(on), ['idle', true, 1]);
    await on.write((tx) => setNodeCordon(tx, NODE, null));
    assert.equal(await on.isCordoned(), false);
    await on.write((tx) => setCordon(tx, 'ann'));
    assert.equal(await on.isCordoned(), true);
  });

  test('a daemon killed while it tries: aborted, and open', async (t) => {
    const on = await scene(t);
    await on.request();
    await on.startAgain();
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
  });

  test('a daemon killed while its jobs run: aborted, and cordoned as recorded, until uncordon', async (t) => {
    const on = await draining(t);
    await on.startAgain();
    assert.deepEqual(await states(on), ['aborted', true, 0]);
    assert.match((await on.row()).reason ?? '', /still cordoned/);
    await on.write((tx) => uncordonRestarts(tx, null, 'ann'));
    assert.deepEqual(await states(on), ['aborted', false, 0]);
  });

  for (const [what, started, state, said] of [
    [
      'the old program is started: aborted, with the reason',
      'old',
      'aborted',
      /did not start .* its error is in the log/,
    ],
    ['the new program is started again: done, if late', 'new', 'idle', /did not start .* started again and runs now/],
  ] as const)
    test(`a new program crashes at its start, and ${what}; jobs start at once`, async (t) => {
      const on = await draining(t);
      await on.end(on.job);
      await on.step();
      on.disk.digest = started;
      await on.startAgain(false);
      assert.deepEqual(await states(on), ['executing', false, 1], 'the files are not read yet');
      assert.notEqual(await on.start(), null);
      await on.step();
      assert.deepEqual(await states(on), [state, false, 1]);
      assert.match((await on.row()).reason ?? '', said);
      assert.equal((await on.row()).digest, started);
      await on.step();
      assert.equal(on.executed(), 1, 'it restarts no more');
    });

  test('a new program that does not work: its words, and the old one works on', async (t) => {
    const on = await scene(t);
    on.disk.words = 'svc version: SyntaxError';
    await on.request();
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
    assert.equal((await on.row()).reason, 'the new program was not started: svc version: SyntaxError');
    on.disk.words = null;
    await on.request();
    await on.step();
    assert.equal((await on.row()).state, 'draining', 'it can be asked for again');
  });

  test('requested before the daemon knows what it runs: it finds that out first', async (t) => {
    const on = await scene(t);
    await on.startAgain(false);
    await on.request();
    for (const _ of [1, 2]) await on.step();
    const { state, digest, reason } = await on.row();
    assert.deepEqual([state, digest], ['aborted', 'new']);
    assert.match(reason ?? '', /is the one that runs/);
  });

  test('a program that is the same, changes while jobs run, or may not be read is not executed', async (t) => {
    const on = await scene(t);
    on.disk.digest = 'old';
    await on.request();
    await on.step();
    assert.match((await on.row()).reason ?? '', /is the one that runs/);

    on.disk.digest = 'new';
    await on.request();
    await on.step();
    on.disk.digest = 'swapped';
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
    assert.match((await on.row()).reason ?? '', /has changed since it was tried/);

    await on.request();
    await on.step();
    on.at.digest = () => Promise.reject(new Failure('conflict', 'no'));
    await on.step();
    assert.deepEqual(await states(on), ['aborted', false, 0]);
    await on.request();
    await on.step();
    assert.equal((await on.row()).reason, 'the new program was not started: no');
  });
});
