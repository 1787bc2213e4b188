import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { State } from '../../domain/workspaces/workspace.ts';
import { startAttacker } from '../../../test/support/attacks/exchange-attacker.ts';
import { holdProcess, systemClock } from '../../lib/clock.ts';
import { backendOf } from './root.ts';
import { parseState } from '../../domain/workspaces/state.ts';
import { ERRORED_STATE_FILE, readState, STATE_FILE, watchState } from './state-file.ts';

const stateText = (serial: number, resources = 0): string =>
  JSON.stringify({
    version: 4,
    serial,
    lineage: 'l',
    resources: resources === 0 ? [] : [{ instances: Array.from({ length: resources }, () => ({})) }],
  });

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-state-'));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('A state is read with its serial, its lineage and the number of its resources', () => {
  const { serial, lineage, resources } = parseState(Buffer.from(stateText(7, 3))) ?? assert.fail();
  assert.deepEqual({ serial, lineage, resources }, { serial: 7, lineage: 'l', resources: 3 });
});

test('F09: what is torn, empty or something else is no state', () => {
  const whole = stateText(7, 3);
  for (let length = 0; length < whole.length; length += 1)
    assert.equal(parseState(Buffer.from(whole.slice(0, length))), null);
  for (const text of [
    'null',
    '[]',
    '{}',
    '{"serial":"7","lineage":"l"}',
    '{"serial":-1,"lineage":"l"}',
    '{"serial":1.5,"lineage":"l"}',
    '{"serial":7}',
  ]) {
    assert.equal(parseState(Buffer.from(text)), null, text);
  }
});

test('A state behind a link, and one in a folder that leads out of the run, is not read', async (t) => {
  const dir = folder(t);
  const [run, outside] = [join(dir, 'run'), join(dir, 'outside')];
  mkdirSync(join(run, 'tree'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, STATE_FILE), stateText(9));
  symlinkSync(join(outside, STATE_FILE), join(run, 'tree', STATE_FILE));
  assert.equal(await readState({ runDir: run, folder: 'tree' }), null);
  symlinkSync(outside, join(run, 'elsewhere'));
  assert.equal(await readState({ runDir: run, folder: 'elsewhere' }), null);
  assert.equal(await readState({ runDir: run, folder: 'missing' }), null);
  writeFileSync(join(run, 'tree', ERRORED_STATE_FILE), stateText(3));
  assert.equal((await readState({ runDir: run, folder: 'tree' }, ERRORED_STATE_FILE))?.serial, 3);
});

test(
  'T62: the state, the errored state and the backend note of another root are never read, also when its folder ' +
    'is exchanged for a link',
  async (t) => {
    const dir = folder(t);
    const [runDir, another] = [join(dir, 'run'), join(dir, 'another')];
    for (const [root, serial] of [
      [join(runDir, 'tree', 'x'), 1],
      [another, 9],
    ] as const) {
      mkdirSync(join(root, '.terraform'), { recursive: true });
      for (const name of [STATE_FILE, ERRORED_STATE_FILE])
        writeFileSync(join(root, name), stateText(serial), { mode: 0o600 });
      writeFileSync(
        join(root, '.terraform', STATE_FILE),
        JSON.stringify({ backend: { type: serial === 1 ? 'own' : 'of another' } }),
      );
    }
    symlinkSync(another, join(runDir, 'tree', 'l'));
    const attacker = startAttacker();
    t.after(() => attacker.stop());
    const place = { runDir, folder: 'tree/x' };
    const seen = new Set<unknown>();
    for (let round = 0; round < 5; round += 1) {
      await attacker.begin({ folders: [join(runDir, 'tree')], outside: another, exchanges: 30_000, remakes: 0 });
      const end = new AbortController();
      const over = attacker.over().then(() => end.abort());
      while (!end.signal.aborted) {
        for (const name of [STATE_FILE, ERRORED_STATE_FILE]) seen.add((await readState(place, name))?.serial);
        seen.add(await backendOf(place).catch(() => undefined));
      }
      await over;
    }
    seen.delete(undefined);
    seen.delete(null);
    assert.deepEqual(
      [...seen].filter((each) => each !== 1 && each !== 'own'),
      [],
    );
  },
);

test('A state that changes is handed over each time, half a file is not, and what could not be kept comes again', async (t) => {
  const release = holdProcess();
  t.after(release);
  const dir = folder(t);
  mkdirSync(join(dir, 'tree'));
  const done = new AbortController();
  const kept: number[] = [];
  let refuse = 1;
  const news = { ring: (): void => undefined };
  const keep = ({ serial }: State): Promise<void> => {
    if (serial === 3 && refuse-- > 0) return Promise.reject(new Error('the store is away'));
    kept.push(serial);
    news.ring();
    return Promise.resolve();
  };
  const next = (serial: number): Promise<void> => {
    const seen = new Promise<void>((resolve) => (news.ring = () => kept.includes(serial) && resolve()));
    writeFileSync(join(dir, 'new'), stateText(serial));
    renameSync(join(dir, 'new'), join(dir, 'tree', STATE_FILE));
    return seen;
  };
  const watching = await watchState({ runDir: dir, folder: 'tree' }, systemClock, keep, done.signal);
  await next(1);
  writeFileSync(join(dir, 'tree', STATE_FILE), '{"serial":2,');
  await next(3);
  done.abort();
  await watching.ended;
  assert.deepEqual(kept, [1, 3]);
});
