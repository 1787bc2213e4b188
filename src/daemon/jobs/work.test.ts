import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { workspaceRow } from '../../../test/support/fixtures/workspace-row.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import { Failure } from '../../domain/failure.ts';
import { decodeChunk } from '../../lib/chunks/chunk.ts';
import { chunksAfter } from '../../store/jobs/chunks.ts';
import { requestCancel } from '../../store/jobs/jobs.ts';
import { insertSource } from '../../store/sources/sources.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { RUN_SUPPORT } from '../kinds.ts';
import { NOTHING_PREPARED, runKind } from './run-support.ts';
import { findWorkspace, insertWorkspace } from '../../store/workspaces/workspaces.ts';
import { insertCommand, type TestStore } from '../../../test/support/store/job-store.ts';
import { addRule } from '../../../test/support/fixtures/reaction.ts';
import { getEvent } from '../../store/events/events.ts';
import { deleteRule } from '../../store/rules/rules.ts';
import { begin, end, scene, until, waitingClock } from '../../../test/support/store/work-scene.ts';

/** A run without programs. */
const QUIET = { clearFiles: [], run: () => Promise.resolve({ state: 'succeeded', exitCode: 0 } as const) };

describe('the work of a daemon', () => {
  test('a slot is reported as free only when it is free', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    await on.job();
    await on.work.claimOnce();
    assert.equal(on.programs.length, 1, 'one slot, one run');
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.deepEqual([on.freed, (await on.row(id)).state, readdirSync(on.runsDir)], [[0], 'succeeded', []]);
  });

  test('a job is claimed in the commit that queues it while a slot is free', async (t) => {
    const on = await scene(t);
    const queue = (): Promise<string> =>
      on.store.write(async (tx) => {
        tx.follow((following) => on.work.claimIn(following), assert.fail);
        return insertCommand(tx, null, {});
      });
    const [first, second] = [await queue(), await queue()];
    assert.deepEqual([(await on.row(first)).state, (await on.row(second)).state], ['running', 'queued']);
    await until(() => on.programs.length === 1);
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.equal((await on.row(first)).state, 'succeeded');
  });

  for (const [exitCode, state] of [
    [0, 'succeeded'],
    [3, 'failed'],
  ] as const) {
    test(`a program that ends with ${exitCode} ends its job as ${state}`, async (t) => {
      const on = await scene(t);
      const id = await begin(on);
      end(on, exitCode);
      await until(() => on.freed.length > 0);
      const { state: found, exit_code: code } = await on.row(id);
      assert.deepEqual([found, code], [state, exitCode]);
    });
  }

  test('a cancel that was asked for ends the run as cancelled', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    await on.store.write((tx) => requestCancel(tx, id));
    await on.work.cancelOnce();
    end(on, null, 'SIGTERM');
    await until(() => on.freed.length > 0);
    const { state, exit_code: code } = await on.row(id);
    assert.deepEqual([state, code], ['cancelled', 143]);
  });

  test('a stop ends the runs as interrupted, waits for them, and claims nothing more', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    const next = await on.job();
    // As systemd stops a service: the program gets its signal from there, and may end before the daemon stops it.
    on.work.close();
    const stopped = on.work.stopAll('shutdown');
    end(on, null, 'SIGTERM');
    await stopped;
    await on.work.claimOnce();
    assert.deepEqual([(await on.row(id)).state, (await on.row(next)).state], ['interrupted', 'queued']);
  });

  for (const [exitCode, state] of [
    [0, 'succeeded'],
    [3, 'failed'],
    [143, 'interrupted'],
  ] as const) {
    test(`a program that ends with ${exitCode} while the daemon stops ends its job as ${state}`, async (t) => {
      const on = await scene(t);
      const id = await begin(on);
      on.work.close();
      end(on, exitCode);
      await until(() => on.freed.length > 0);
      assert.equal((await on.row(id)).state, state);
    });
  }

  for (const [exitCode, state] of [
    [0, 'succeeded'],
    [143, 'interrupted'],
  ] as const) {
    test(`F03: a run that ends with ${exitCode} while the lease is late ends its job as ${state}`, async (t) => {
      const on = await scene(t);
      const id = await begin(on);
      on.overdue = true;
      end(on, exitCode);
      await until(() => on.freed.length > 0);
      assert.equal((await on.row(id)).state, state);
    });
  }

  test('F03: a run whose lease was lost writes nothing', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    const fenced: string[] = [];
    on.signals.on('job:fenced', ({ jobId }) => fenced.push(jobId));
    const before = await on.row(id);
    const stopped = on.work.stopAll('lease-lost');
    end(on, null, 'SIGTERM');
    await stopped;
    assert.deepEqual([fenced, await on.row(id)], [[id], before]);
  });

  test('an end that the store cannot take for a while is written when it can', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    for (let n = 0; n < 20; n += 1) on.refusals.push(new Failure('unavailable', 'away'));
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.equal((await on.row(id)).state, 'succeeded');
  });

  test('F24: output whose commit succeeded without an answer is stored once, and the run continues', async (t) => {
    const on = await scene(t);
    const id = await begin(on);
    on.lostAnswers = 1;
    on.programs[0]?.print('one line\n');
    await until(() => on.lostAnswers === 0);
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.equal((await on.row(id)).state, 'succeeded');
    const chunks = await chunksAfter(on.store.db, id, 0, 10);
    const lines = chunks
      .flatMap(({ data }) => decodeChunk(data, { after: 0, limit: 10 }))
      .filter(({ type }) => type === 'log');
    assert.deepEqual(
      lines.map((line) => 'text' in line && line.text),
      ['one line'],
    );
  });

  test('the last output, the end and its event are one commit', async (t) => {
    const on = await scene(t, { clock: waitingClock });
    const id = await begin(on);
    const before = on.writes;
    on.programs[0]?.print('one line\n');
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.equal(on.writes - before, 1);
    const [chunk] = await chunksAfter(on.store.db, id, 2, 10);
    assert.match(JSON.stringify(decodeChunk(chunk?.data ?? Buffer.alloc(0), { after: 0, limit: 10 })), /one line/);
    const { state, outcome_event_id: eventId } = await on.row(id);
    assert.equal(state, 'succeeded');
    assert.equal((await getEvent(on.store.db, eventId ?? '')).source, 'job-outcome');
    assert.equal(on.withoutEvent, 0);
  });

  test('a fault of its event does not keep a job from ending, and the event is left to the loop', async (t) => {
    const on = await scene(t);
    await addRule(on.reaction, 'gone', { when: 'event.source == "job-outcome"' });
    const before = await on.reaction.rules.current();
    on.reaction.rules.current = () => Promise.resolve(before);
    const id = await begin(on);
    // The evaluation still sees the rule, and the transaction does not.
    await on.store.write((tx) => deleteRule(tx, 'gone'));
    end(on, 0);
    await until(() => on.freed.length > 0);
    const { state, outcome_event_id: eventId } = await on.row(id);
    assert.deepEqual([state, eventId, on.withoutEvent], ['succeeded', null, 1]);
  });

  test('an end that cannot be stored is reported, and its slot becomes free', async (t) => {
    const on = await scene(t);
    await begin(on);
    const failures: string[] = [];
    on.signals.on('loop:failed', ({ error }) => failures.push(String(error)));
    for (let n = 0; n < 20; n += 1) on.refusals.push(new Error('odd'));
    end(on, 0);
    await until(() => on.freed.length > 0);
    assert.deepEqual(failures, ['Error: odd']);
  });

  test('a result that is refused in the transaction of the end fails the run, and nothing of it is written', async (t) => {
    const refusing = runKind(commandKind, QUIET, {
      mayBeRefused: true,
      prepare: () =>
        Promise.resolve({
          ...NOTHING_PREPARED,
          finish: () =>
            Promise.resolve(async (tx: Tx) => {
              await insertWorkspace(tx, workspaceRow('net'));
              throw new Failure('conflict', 'It has moved.');
            }),
        }),
    });
    const on = await scene(t, { kinds: { ...RUN_SUPPORT, command: refusing } });
    const id = await on.job();
    await on.work.claimOnce();
    await until(() => on.freed.length > 0);
    const { state, reason } = await on.row(id);
    assert.deepEqual([state, reason], ['failed', 'It has moved.']);
    assert.equal(await findWorkspace(on.store.db, 'net'), undefined);
  });

  for (const [how, state] of [
    ['a cancel', 'cancelled'],
    ['a stop of the daemon', 'interrupted'],
  ] as const) {
    test(`${how} ends a run that still waits for its files, and it is ${state}`, async (t) => {
      const waits = Promise.withResolvers<void>();
      const fetch: TestStore['sources']['fetch'] = (_source, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Failure('unavailable', 'git: the fetch was stopped.')));
          waits.resolve();
        });
      const on = await scene(t, { sources: { treeOf: () => Promise.resolve(null), fetch } });
      await on.store.write(async (tx) => {
        await insertSource(tx, {
          name: 'infra',
          kind: 'git',
          location: 'https://git.test/x',
          ref: null,
          commit_id: 'a'.repeat(40),
          synced_at: 0,
          created_at: 0,
        });
        await insertWorkspace(tx, workspaceRow('net', { source: 'infra', path: '' }));
      });
      const spec = JSON.stringify({ plan: null, runSecrets: {}, detailedExitcode: false });
      const id = await on.job('workspace:net', { kind: 'plan', workspace: 'net', spec });
      await on.work.claimOnce();
      await waits.promise;
      if (how === 'a cancel') {
        await on.store.write((tx) => requestCancel(tx, id));
        await on.work.cancelOnce();
      }
      await on.work.stopAll('shutdown');
      assert.equal((await on.row(id)).state, state);
      assert.equal(on.programs.length, 0);
    });
  }
});
