import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { State } from '../../domain/workspace.ts';
import { holdProcess, systemClock } from '../../lib/clock.ts';
import { ERRORED_STATE_FILE, parseState, readState, readWhole, STATE_FILE, watchState } from './state-file.ts';

const stateText = (serial: number, resources = 0): string =>
  JSON.stringify({ version: 4, serial, lineage: 'l', resources: resources === 0 ? [] : [{ instances: Array.from({ length: resources }, () => ({})) }] });

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
  for (let length = 0; length < whole.length; length += 1) assert.equal(parseState(Buffer.from(whole.slice(0, length))), null);
  for (const text of ['null', '[]', '{}', '{"serial":"7","lineage":"l"}', '{"serial":-1,"lineage":"l"}', '{"serial":1.5,"lineage":"l"}', '{"serial":7}']) {
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
  assert.equal(await readState(run, join(run, 'tree')), null);
  symlinkSync(outside, join(run, 'elsewhere'));
  assert.equal(await readState(run, join(run, 'elsewhere')), null);
  assert.equal(await readState(run, join(run, 'missing')), null);
  writeFileSync(join(run, 'tree', ERRORED_STATE_FILE), stateText(3));
  assert.equal((await readState(run, join(run, 'tree'), ERRORED_STATE_FILE))?.serial, 3);
});

test('A file above the limit is not read', async (t) => {
  const path = join(folder(t), 'file');
  writeFileSync(path, 'x'.repeat(100));
  assert.equal((await readWhole(path, 100)).length, 100);
  await assert.rejects(readWhole(path, 99), /at most 99 bytes/);
});

test('A state that changes is handed over each time, half a file is not, and what could not be kept comes again', { timeout: 20_000 }, async (t) => {
  const release = holdProcess();
  t.after(release);
  const dir = folder(t);
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
    renameSync(join(dir, 'new'), join(dir, STATE_FILE));
    return seen;
  };
  const watching = await watchState({ within: dir, folder: dir }, systemClock, keep, done.signal);
  await next(1);
  writeFileSync(join(dir, STATE_FILE), '{"serial":2,');
  await next(3);
  done.abort();
  await watching.ended;
  assert.deepEqual(kept, [1, 3]);
});
