import { type BigIntStats, close, fstat, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { errorCode } from '../../lib/error-code.ts';
import { asAccount, openAs } from '../account/as-account.ts';
import { listProcesses } from '../process/process-table.ts';
import { AccountFolder } from '../run-files/account-folder.ts';
import { OpenFile } from '../run-files/open-file.ts';
import { markIn } from '../sandbox/mark.ts';

const closeLater = promisify(close);
const statsOf = promisify((fd: number, done: (error: NodeJS.ErrnoException | null, stats: BigIntStats) => void): void =>
  fstat(fd, { bigint: true }, done),
);

const AT_FDCWD = -100;
const O_PATH_CLOEXEC = 0o12000000;
/** Descriptors of a process that are looked at together: each takes one of ours. */
const FILES_AT_ONCE = 64;
/** A process with more is not looked at to the end. */
const FILES_MAX = 65_536;
/** Of a list of mappings: some 40,000 lines. The kernel allows 65,530 mappings by default. */
const MAPS_BYTES_MAX = 4 * 2 ** 20;
/** A process that has ended since the look at the process table. */
const ENDED_CODES: readonly (string | null)[] = ['ENOENT', 'ESRCH'];

/** Names a file as long as it exists. */
export function fileKey({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  return keyOf(Number(major), Number(minor), ino.toString());
}

function keyOf(major: number, minor: number, inode: string): string {
  return `${major}:${minor}:${inode}`;
}

/**
 * The files that processes of the account have open or mapped. Null where nothing of the account may be taken away: one
 * of the processes belongs to a run, of this daemon or of another one, or it cannot be looked at.
 */
export async function usedFiles(account: AccountIds): Promise<ReadonlySet<string> | null> {
  const used = new Set<string>();
  for (const { pid } of await listProcesses()) {
    if (realUser(pid) !== account.uid) continue;
    if (markIn(pid) !== null) return null;
    try {
      for (const key of await mappedBy(pid, account)) used.add(key);
      for await (const key of openIn(pid, account)) used.add(key);
    } catch (error) {
      if (!ENDED_CODES.includes(errorCode(error))) return null;
    }
  }
  return used;
}

/** Not the effective one: calls that the service makes as the account come from children with that one. */
function realUser(pid: number): number | null {
  try {
    const [, uid] = /^Uid:\t(\d+)\t/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return uid === undefined ? null : Number(uid);
  } catch {
    return null;
  }
}

/** Lines such as `7f12-7f34 rw-s 00000000 00:1a 42   /dev/shm/name`. */
async function mappedBy(pid: number, account: AccountIds): Promise<readonly string[]> {
  await using file = new OpenFile(await openAs(account, `/proc/${pid}/maps`));
  const maps = (await file.read(MAPS_BYTES_MAX)).toString('latin1');
  if (maps.length === MAPS_BYTES_MAX) throw new Error(`process ${pid} has more mappings than are read`);
  return Array.from(maps.matchAll(/^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+)/gm), ([, major, minor, inode]) =>
    keyOf(Number.parseInt(major ?? '', 16), Number.parseInt(minor ?? '', 16), inode ?? ''),
  );
}

async function* openIn(pid: number, account: AccountIds): AsyncGenerator<string> {
  const path = `/proc/${pid}/fd`;
  await using folder = new AccountFolder(await openAs(account, path), account);
  let names: string[] = [];
  let seen = 0;
  for await (const { name } of folder.entries()) {
    seen += 1;
    if (seen > FILES_MAX) throw new Error(`${path} has more than ${FILES_MAX} entries`);
    names.push(name.toString('latin1'));
    if (names.length < FILES_AT_ONCE) continue;
    yield* await keysOf(path, names, account);
    names = [];
  }
  if (names.length > 0) yield* await keysOf(path, names, account);
}

/** Takes each open file by its link, which leads to the file itself, whatever its name is by now. */
async function keysOf(path: string, names: readonly string[], account: AccountIds): Promise<readonly string[]> {
  const fds = await asAccount(
    account,
    (calls) => {
      for (const name of names) calls.add('openat', AT_FDCWD, calls.text(`${path}/${name}`), O_PATH_CLOEXEC);
    },
    (results) => results.filter((result) => result >= 0),
  );
  return Promise.all(
    fds.map(async (fd) => {
      const stats = await statsOf(fd);
      await closeLater(fd);
      return fileKey(stats);
    }),
  );
}
