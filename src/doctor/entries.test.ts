import { systemClock } from '../lib/clock.ts';
import assert from 'node:assert/strict';
import { chmod, chown, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { insertToken } from '../store/access/tokens.ts';
import { dataDirPaths } from '../config/data-dir.ts';
import { migratedDatabase, type FreshDatabase } from '../../test/support/postgres/postgres.ts';
import { judgeRoom } from './maintenance/disk-space.ts';
import { createDoctor } from './doctor.ts';
import type { DoctorEntry, DoctorParts } from './entry.ts';
import { install, type Installation, queueJobs, WALL_MS } from '../../test/support/doctor-facts.ts';
import { judgeSchema } from './maintenance/schema.ts';
import { needs } from '../../test/support/tools.ts';

const row = (number: number, sha256 = 'a') => ({ number, name: `step${number}`, sha256 });

describe('Entries of the doctor', () => {
  let home: Installation;
  beforeEach(async () => {
    home = await install();
  });
  afterEach(() => home.remove());

  async function entry(name: string, otherwise: Partial<DoctorParts> = {}): Promise<DoctorEntry> {
    const found = (await createDoctor(home.parts(otherwise))()).find((each) => each.name === name);
    assert.ok(found);
    return found;
  }

  async function demand(
    name: string,
    status: string,
    detail: RegExp,
    otherwise: Partial<DoctorParts> = {},
  ): Promise<void> {
    const found = await entry(name, otherwise);
    assert.match(found.detail, detail);
    assert.equal(found.status, status);
  }

  describe('data_dir', () => {
    test('is ok when all is there and closed', () =>
      demand('data_dir', 'ok', /^Present, closed to other users; \d entries\.$/));

    test('T06: warns of a directory with mode 0755', async () => {
      await chmod(home.paths.dir, 0o755);
      await demand('data_dir', 'warn', /the directory itself has mode 0755, expected 0700/);
    });

    test('T06: warns of each file and folder that others may use, by name', async () => {
      await chmod(home.paths.database, 0o644);
      await chmod(home.paths.runs, 0o711);
      // Another entry may open the database at this moment: SQLite gives the log beside it the same mode.
      const detail = /gatehouse\.db has mode 0644, expected 0600; (?:.*; )?runs has mode 0711, expected 0700/;
      await demand('data_dir', 'warn', detail);
    });

    test('warns of a missing folder, names ten findings at most, and passes over links', async () => {
      await rm(home.paths.instances, { recursive: true });
      await demand('data_dir', 'warn', /^Present, but instances is missing\.$/);
      for (let i = 0; i < 12; i += 1) {
        await writeFile(join(home.paths.dir, `x${i}`), '');
        await chmod(join(home.paths.dir, `x${i}`), 0o666);
      }
      await symlink('/nonexistent', join(home.paths.dir, 'link'));
      await demand('data_dir', 'warn', /(x\d+ has mode 0666, expected 0600; ){10}3 more\.$/);
    });

    test('fails for a file in its place and for a missing one', async () => {
      await demand('data_dir', 'fail', /^The data directory is not a directory\.$/, {
        paths: dataDirPaths(home.paths.sealKey),
      });
      await demand('data_dir', 'fail', /^The data directory does not exist\.$/, {
        paths: dataDirPaths('/proc/nonexistent'),
      });
      await demand('data_dir', 'fail', /not a directory \(ENOTDIR\)/, {
        paths: dataDirPaths(join(home.paths.sealKey, 'x')),
      });
    });

    test('fails when it belongs to another user', { skip: needs('root') }, async () => {
      await chown(home.paths.dir, 12_345, 12_345);
      await demand('data_dir', 'fail', /belongs to user 12345/);
    });
  });

  describe('schema', () => {
    test('is ok when the store had exactly the migrations of this build', () =>
      demand('schema', 'ok', /^Schema (\d+); \1 of \1 migrations applied\.$/));

    test('fails for a missing, an unknown and an altered migration, by name', () => {
      assert.deepEqual(judgeSchema([row(1)], [row(1), row(2)]), {
        status: 'fail',
        detail: 'Migration 2 (step2) has not been applied.',
      });
      assert.match(judgeSchema([row(1), row(2)], [row(1)]).detail, /2 \(step2\) of the store is unknown to this build/);
      assert.match(
        judgeSchema([row(1, 'b')], [row(1)]).detail,
        /1 \(step1\) of the store is not the one of this build/,
      );
      assert.equal(judgeSchema([row(1, 'b')], [row(1)]).status, 'fail');
    });
  });

  describe('disk_room', () => {
    const MIB = 2 ** 20;
    const GIB = 2 ** 30;

    test('is judged by share and by size, whichever is worse', () => {
      const rows: [free: number, total: number, status: string][] = [
        [50 * GIB, 100 * GIB, 'ok'],
        [10 * GIB, 100 * GIB, 'ok'],
        [10 * GIB - 1, 100 * GIB, 'warn'],
        [GIB, 2 * GIB, 'ok'],
        [GIB - 1, 2 * GIB, 'warn'],
        [GIB, 100 * GIB, 'warn'],
        [GIB - 1, 100 * GIB, 'fail'],
        [64 * MIB, 500 * MIB, 'warn'],
        [64 * MIB - 1, 100 * MIB, 'fail'],
        [0, 0, 'fail'],
      ];
      for (const [free, total, status] of rows)
        assert.equal(judgeRoom(free, total).status, status, `${free} of ${total}`);
      assert.equal(
        judgeRoom(3.5 * GIB, 100 * GIB).detail,
        '3.5 GiB of 100.0 GiB free (3.5 %): less than 10 % or 1 GiB.',
      );
    });

    test('states the numbers of the real file system', async () => {
      assert.match((await entry('disk_room')).detail, /^[\d.]+ [GM]iB of [\d.]+ [GM]iB free \([\d.]+ %\)/);
    });
  });

  describe('clock', () => {
    test('is ok when both clocks went on together', async () => {
      const doctor = createDoctor(home.parts());
      home.clock.advance(86_400_000);
      assert.deepEqual((await doctor())[4], {
        name: 'clock',
        status: 'ok',
        detail: '2026-11-22T12:00:00.000Z, +0s against monotonic time since the start.',
      });
    });

    test('warns when the wall clock was moved since the start, either way', async () => {
      for (const step of [7_200_000, -7_200_000]) {
        const doctor = createDoctor(home.parts());
        home.clock.wallMs += step;
        const found = (await doctor())[4];
        assert.equal(found?.status, 'warn');
        assert.match(found?.detail ?? '', step > 0 ? /moved by \+2h/ : /moved by -2h/);
      }
    });

    test('fails when the wall clock was never set', async () => {
      home.clock.wallMs = 0;
      await demand('clock', 'fail', /1970-01-01T00:00:00\.000Z, so it was never set/);
    });
  });

  describe('seal', () => {
    test('is ok with a whole key of mode 0600, which stays out of the report', async () => {
      const found = await entry('seal');
      assert.equal(found?.status, 'ok');
      assert.match(
        found?.detail ?? '',
        /^Present in the data directory, mode 0600, valid; key [0-9a-f]{16}, 0 sealed items\.$/,
      );
    });

    test('T06: fails when others may read the key', async () => {
      await chmod(home.paths.sealKey, 0o640);
      await demand('seal', 'fail', /has mode 0640, so that others can read it/);
    });

    test('F09: fails for a torn key', async () => {
      await writeFile(home.paths.sealKey, 'gatehouse-seal-1 AAAA');
      await demand('seal', 'fail', /is torn or altered/);
    });

    test('warns of a missing key in a new installation, and fails once tokens need it', async () => {
      const kept = `${home.paths.sealKey}.kept`;
      await rename(home.paths.sealKey, kept);
      await demand('seal', 'warn', /There is no seal key in the data directory yet/);
      await rename(kept, home.paths.sealKey);
      const bytes = Buffer.alloc(16);
      const row = {
        id: 'tok_1',
        name: 'n',
        owner: 'o',
        scope: 'operator',
        salt: bytes,
        hash: bytes,
        version: 1,
      } as const;
      await home.store.write((tx) =>
        insertToken(tx, { ...row, created_at: tx.now, expires_at: null, revoked_at: null, agent: null }),
      );
      await rm(home.paths.sealKey);
      await demand('seal', 'fail', /missing: tokens cannot be verified without it/);
    });

    test('looks where --seal-key-file says', async () => {
      const elsewhere = join(home.paths.dir, 'runs', 'other.key');
      await rename(home.paths.sealKey, elsewhere);
      await demand('seal', 'ok', /^Present at --seal-key-file/, {
        settings: { ...home.parts().settings, sealKeyFile: elsewhere },
      });
    });
  });

  describe('privilege_posture', () => {
    const DAY_MS = 86_400_000;

    test('is ok while no run of the last 30 days was privileged', async () => {
      await queueJobs(home.store, 3);
      await queueJobs(home.store, 2, { privileged: true, createdAt: WALL_MS - 31 * DAY_MS });
      await demand('privilege_posture', 'ok', /^No run queued in the last 30 days ran unsandboxed\.$/);
    });

    test('warns with the count otherwise', async () => {
      await queueJobs(home.store, 1, { privileged: true, createdAt: WALL_MS - 29 * DAY_MS });
      await demand('privilege_posture', 'warn', /^1 run queued in the last 30 days ran unsandboxed\.$/);
      await queueJobs(home.store, 2, { privileged: true });
      await demand('privilege_posture', 'warn', /^3 runs queued/);
    });
  });

  describe('on PostgreSQL', () => {
    let database: FreshDatabase;
    after(() => database.drop());

    test('every entry answers, and the clock is compared with that of the database', async () => {
      database = await migratedDatabase();
      const shared = await install(database.url);
      try {
        await queueJobs(shared.store, 5);
        // Clocks that go on: a slow machine takes longer than what the entry allows.
        const entries = await createDoctor(shared.parts({ clock: systemClock }))();
        const found = Object.fromEntries(entries.map(({ name, ...rest }) => [name, rest]));
        for (const name of ['store', 'schema', 'clock', 'privilege_posture', 'audit_ledger'])
          assert.equal(found[name]?.status, 'ok', name);
        assert.match(found['clock']?.detail ?? '', /, [+-]\d+m?s against the database\.$/);
        const ahead = { ...systemClock, now: () => Date.now() + 3_600_000 };
        const later = (await createDoctor(shared.parts({ clock: ahead }))())[4];
        assert.equal(later?.status, 'warn');
        // The middle of the request is not when the database answered.
        assert.match(later?.detail ?? '', /the database's clock is -(?:1h|59m)(?:\d+s)?(?:\d+ms)? against ours/);
      } finally {
        await shared.remove();
      }
    });
  });
});
