/**
 * Stand-alone child programs of the store's tests: `node child.ts <command> <JSON>`. Each says lines of JSON, written
 * synchronously, so that what was said before a kill has arrived.
 */
import { closeSync, openSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { systemClock } from '../../src/lib/clock.ts';
import { testKeyring } from '../support/seal.ts';
import { claimJobs } from '../../src/store/jobs/claims.ts';
import type { Engine } from '../../src/store/engine/dialect.ts';
import { holdLock, isLockHeld } from '../../src/store/engine/instance-lock.ts';
import { insertJob, listJobs } from '../../src/store/jobs/jobs.ts';
import { migrate } from '../../src/store/engine/migrate.ts';
import { readMigrations } from '../../src/store/engine/migration.ts';
import { openPostgres } from '../../src/store/engine/postgres/postgres.ts';
import { openSqlite } from '../../src/store/engine/sqlite/sqlite.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { printLine } from '../support/output/print-line.ts';
import { entry, makeJob, type Location } from './engine-fixture.ts';

export interface ChildInput {
  readonly location?: Location;
  readonly name?: string;
  readonly count?: number;
  readonly file?: string;
}

export type ChildCommand = keyof typeof COMMANDS;

/** Writes that a writer has under way at any time. */
const IN_FLIGHT = 16;

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The input of the child program is incomplete.');
  return value;
}

function open({ location, name = 'dmn_child' }: ChildInput): Promise<Store> {
  return openStore({ location: need(location), clock: systemClock, daemonId: name, keyring: testKeyring });
}

async function insertOne(store: Store): Promise<string> {
  const job = makeJob();
  await store.write(async (tx) => {
    await insertJob(tx, job);
    tx.record(entry(job.id));
    tx.afterCommit(() => {});
  });
  return job.id;
}

const COMMANDS = {
  /** Opens the store, which may mean to make it, and says so. */
  async open(input: ChildInput) {
    const store = await open(input);
    printLine({ opened: (await listJobs(store.db, {}, 1)).length });
    await store.close();
  },

  /** Queues and claims in turn, `count` times. Says the ids that it claimed and the errors that it met. */
  async claim(input: ChildInput) {
    const store = await open(input);
    const claimed: string[] = [];
    const errors: string[] = [];
    for (let n = 0; n < need(input.count); n += 1) {
      try {
        await insertOne(store);
        const rows = await store.write((tx) => claimJobs(tx, need(input.name), 1));
        claimed.push(...rows.map((row) => row.id));
      } catch (error) {
        errors.push(String(error));
      }
    }
    printLine({ claimed, errors });
    await store.close();
  },

  /** Queues jobs until it is killed, and says each id once its write is acknowledged. */
  async write(input: ChildInput) {
    const store = await open(input);
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        for (;;) printLine({ id: await insertOne(store) });
      }),
    );
  },

  /** Holds the lock of a file until it is killed; says whether it could have it. */
  async hold({ file }: ChildInput) {
    try {
      holdLock(need(file));
    } catch {
      return printLine({ held: false });
    }
    // The lock is not remembered here: that must not let the garbage collector give it away.
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
    printLine({ held: true });
    setInterval(() => {}, 1_000);
  },

  /** Says whether another process holds the lock of a file. */
  async ask({ file }: ChildInput) {
    printLine({ held: isLockHeld(need(file)) });
  },

  /** Migrates, and dies by SIGKILL inside the transaction after `count` statements of the migrations. */
  async migrate({ location, count }: ChildInput) {
    const engine: Engine =
      'url' in need(location)
        ? await openPostgres((location as { url: string }).url, systemClock)
        : await openSqlite((location as { file: string }).file, systemClock);
    let left = count ?? 0;
    const dying: Engine = {
      ...engine,
      async script(db, text) {
        for (const statement of statementsOf(text)) {
          if (left === 0) {
            process.kill(process.pid, 'SIGKILL');
            await new Promise(() => {});
          }
          await engine.script(db, statement);
          left -= 1;
        }
      },
    };
    const folder = join(import.meta.dirname, '..', '..', 'migrations', engine.dialect.name);
    await migrate(dying, readMigrations(folder), systemClock.now());
  },

  /** Uses up all file descriptors, frees them again, and prints how an open and a new store behave before and after. */
  async starve(input: ChildInput) {
    const store = await open(input);
    await insertOne(store);
    const taken = takeDescriptors();
    const ids = await Promise.all(Array.from({ length: 50 }, () => insertOne(store)));
    const listed = (await listJobs(store.db, {}, 100)).length;
    const other = { location: { file: need(input.file) } };
    const refused = await open(other).then(() => null, String);
    for (const each of taken) closeSync(each);
    const late = await open(other);
    await insertOne(late);
    printLine({ written: ids.length, listed, refused, after: (await listJobs(late.db, {}, 10)).length });
    await Promise.all([store.close(), late.close()]);
  },
} satisfies Record<string, (input: ChildInput) => Promise<void>>;

/** The statements of a migration file: none of ours has a semicolon inside. */
export function statementsOf(text: string): string[] {
  return text.split(/;\s*\n/).filter((statement) => statement.trim() !== '');
}

function takeDescriptors(): number[] {
  const taken: number[] = [];
  for (;;) {
    try {
      taken.push(openSync('/dev/null', 'r'));
    } catch {
      return taken;
    }
  }
}

const [command, input] = process.argv.slice(2);
if (process.argv[1] === import.meta.filename && command !== undefined) {
  // Node writes its compiled modules when a process ends, and most of these are killed.
  flushCompileCache();
  await COMMANDS[command as ChildCommand](JSON.parse(input ?? '{}') as ChildInput);
}
