/**
 * The power of the machine is lost in the middle of a commit: its daemons and tools end at once, and the database
 * continues with what was on the disk. Until the log of a commit is synced, SQLite writes to nothing else.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { endianness } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';
import type { Place } from './place.ts';
import type { Action } from './plan/plan.ts';
import type { WorldStore } from './stores/store.ts';

/** Of the log. */
const HEADER = 32;
const FRAME_HEADER = 24;
const PAGE_SIZE_AT = 8;
/** Of its index, in the order of bytes of the machine: how many frames it has, and how many the database has. */
const FRAMES_AT = 16;
const BACKFILLED_AT = 96;
/** Of `pragma synchronous`, from which on a log is synced before its commit is answered. */
const FULL = 2;
/** A disk writes a sector as a whole or not at all. Behind the cut, this share of them is there. */
const SECTOR = { bytes: 512, share: 0.3 };

interface Files {
  readonly database: Buffer;
  readonly log: Buffer;
  /** Where the last frame of the log ends. What is behind it is of an older log. */
  readonly end: number;
  /** Where the last frame ends that is in the database: the log was synced up to it. */
  readonly backfilled: number;
}

/** Of the bytes that the next commit may lose, `there` is the share that is there. Only where the store is a file. */
export function losePower(place: Place, { there, backMs }: Extract<Action, { do: 'power' }>): void {
  const { world, store } = place;
  const { files } = store;
  if (files === null) return;
  world.powerLoss = {
    file: files.path,
    during(by, connection, write) {
      const before = filesOf(files.path);
      const recorded = recordedIn(store);
      const isSynced = synchronousOf(connection) >= FULL;
      const answer = write();
      world.powerLoss = null;
      const after = filesOf(files.path);
      const isSameLog = before.log.subarray(0, HEADER).equals(after.log.subarray(0, HEADER));
      const from = isSameLog ? (isSynced ? before.end : before.backfilled) : 0;
      const cut = from + Math.round((after.end - from) * there);
      world.note(`the power is lost in a commit of ${by.name}: ${cut - from} of ${after.end - from} bytes are there`);
      const chance = world.chance.of('power');
      const log = torn({ from: cut, old: isSynced ? before.log : Buffer.alloc(0), whole: after }, () =>
        chance.chance(SECTOR.share),
      );
      for (const each of place.processes.all) if (each.host.machine === by.machine) each.isAlive = false;
      by.machine.boots += 1;
      for (const host of world.hosts) if (host.machine === by.machine) place.kill(host, backMs);
      files.replace(() => {
        // Not into the old files, which code of a dead daemon may still have open.
        for (const kind of ['', '-wal', '-shm']) rmSync(`${files.path}${kind}`, { force: true });
        writeFileSync(files.path, before.database, { mode: 0o600 });
        writeFileSync(`${files.path}-wal`, log, { mode: 0o600 });
      });
      const missing = recorded - recordedIn(store);
      if (missing > 0)
        place.watch.violated('L6', `${missing} rows of the ledger were committed and lost with the power`);
      // A commit that is there counts, though it was never answered.
      world.onCommit(by);
      return answer;
    },
  };
}

interface Tear {
  readonly from: number;
  /** What the disk had there before. */
  readonly old: Buffer;
  readonly whole: Files;
}

/** The log, of which only some sectors are there behind this byte. */
function torn({ from, old, whole }: Tear, isThere: () => boolean): Buffer {
  const log = Buffer.from(whole.log);
  for (let at = from; at < whole.end;) {
    const next = Math.min(whole.end, (Math.floor(at / SECTOR.bytes) + 1) * SECTOR.bytes);
    if (!isThere()) log.fill(0, at, next).set(old.subarray(at, next), at);
    at = next;
  }
  return log;
}

function recordedIn({ rows }: WorldStore): number {
  return Number(rows('select sum(length) as n from chains')[0]?.['n']);
}

function synchronousOf(connection: DatabaseSync): number {
  return Number(connection.prepare('pragma synchronous').get()?.['synchronous']);
}

function filesOf(path: string): Files {
  const log = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : Buffer.alloc(0);
  const index = readFileSync(`${path}-shm`);
  const count = endianness() === 'LE' ? (at: number) => index.readUInt32LE(at) : (at: number) => index.readUInt32BE(at);
  const endOf = (frames: number): number =>
    frames === 0 ? 0 : HEADER + frames * (FRAME_HEADER + log.readUInt32BE(PAGE_SIZE_AT));
  return { database: readFileSync(path), log, end: endOf(count(FRAMES_AT)), backfilled: endOf(count(BACKFILLED_AT)) };
}
