import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { jobIdPart, type PathPart } from '../../../domain/path-part.ts';
import { systemClock } from '../../../lib/clock.ts';
import { LEFTOVER_MS } from '../../checkout/erase.ts';
import { KeptInits, keptInitsDir } from './kept-inits.ts';

const jobId = (number: number): PathPart => jobIdPart(`job_${String(number).padStart(26, '0')}`);

async function keep(inits: KeptInits, workspace: string, number: number, bytes = 10): Promise<void> {
  const { files } = await inits.stage(jobId(number));
  writeFileSync(join(files, 'x'), String(number));
  const manifest = { key: `key ${number}`, digest: 'd', bytes, made_at: number, job_id: jobId(number) };
  await inits.settle(workspace, manifest);
}

describe('Kept inits on disk', () => {
  let dir: string;
  let folder: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-kept-'));
    folder = keptInitsDir(dir);
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  describe('KeptInits', () => {
    it('has the newest of a workspace, for the key that it was made with', async () => {
      const inits = new KeptInits(folder, systemClock);
      assert.equal(await inits.find('net', 'key 1'), null);
      await keep(inits, 'net', 1);
      assert.equal((await inits.find('net', 'key 1'))?.files, join(folder, 'net', jobId(1), 'files'));
      assert.equal(await inits.find('net', 'key 2'), null);
      assert.equal(await inits.find('other', 'key 1'), null);
      await keep(inits, 'net', 2);
      assert.equal(await inits.find('net', 'key 1'), null);
      assert.equal((await inits.find('net', 'key 2'))?.manifest.made_at, 2);
      assert.deepEqual(readdirSync(join(folder, 'net')), [jobId(2)]);
      for (const path of ['', 'net', `net/${jobId(2)}`, `net/${jobId(2)}/files`])
        assert.equal(lstatSync(join(folder, path)).mode & 0o777, 0o700);
      assert.equal(lstatSync(join(folder, 'net', jobId(2), 'kept.json')).mode & 0o777, 0o600);
    });

    it('a crash leaves the old one, the new one or none, and its rest is removed', async () => {
      const inits = new KeptInits(folder, systemClock);
      await keep(inits, 'net', 1);
      // Before the rename, and after it.
      const { files } = await inits.stage(jobId(2));
      assert.notEqual(await inits.find('net', 'key 1'), null);
      mkdirSync(join(folder, 'net', jobId(3)));
      assert.equal(await inits.find('net', 'key 1'), null, 'a newer one without a manifest');
      const long = new Date(Date.now() - LEFTOVER_MS - 1_000);
      utimesSync(join(files, '..'), long, long);
      mkdirSync(join(folder, '.gone-1'));
      await inits.keepOnly(() => Promise.resolve(['net']));
      assert.deepEqual(readdirSync(folder), ['net']);
      await keep(inits, 'net', 4);
      assert.deepEqual(readdirSync(join(folder, 'net')), [jobId(4)]);
    });

    it('the oldest go where all together are too large', async () => {
      const inits = new KeptInits(folder, systemClock, 25);
      for (const [at, name] of ['a', 'b', 'c'].entries()) await keep(inits, name, at + 1);
      assert.deepEqual(readdirSync(folder).toSorted(), ['b', 'c']);
      await keep(inits, 'd', 4, 26);
      assert.deepEqual(readdirSync(folder), [], 'one that is too large by itself');
    });

    it('removes those of workspaces that are gone, and asks for the list only if there is something', async () => {
      const inits = new KeptInits(folder, systemClock);
      await inits.keepOnly(() => Promise.reject(new Error('asked')));
      await inits.remove('net');
      for (const [at, name] of ['a', 'b', 'c'].entries()) await keep(inits, name, at + 1);
      await inits.keepOnly(() => Promise.resolve(['b', 'c']));
      await inits.remove('c');
      assert.deepEqual(readdirSync(folder), ['b']);
      await inits.stage(jobId(9));
      await inits.unstage(jobId(9));
      await inits.unstage(jobId(9));
      assert.deepEqual(readdirSync(folder), ['b']);
    });

    it('takes no name that leads elsewhere', async () => {
      const inits = new KeptInits(folder, systemClock);
      mkdirSync(join(dir, 'victim'));
      for (const name of ['..', '../victim', '.staged-x', ''])
        await assert.rejects(inits.remove(name), /the name of the workspace is malformed/);
      assert.ok(existsSync(join(dir, 'victim')));
    });
  });
});
