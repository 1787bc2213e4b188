import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';

/**
 * Whether only root and this account can change what is at a path. Files that decide, the folders of programs, and
 * compiled code all pass this one check.
 */

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const GROUP_READS = 0o040;
const OTHERS_READ = 0o004;
/** In such a folder others may make entries, and not rename or remove those of another account. */
const STICKY = 0o1000;
/** As in the kernel. */
const LINKS_MAX = 40;
/** The owner of a file that has no number in this user namespace, unless the namespace maps this number. */
const UNMAPPED = 65_534;

/** What lets another account change a path. */
export interface Opening {
  /** The file or folder, absolute. */
  readonly path: string;
  /** Continues a sentence that begins with the path. */
  readonly why: string;
  /** The command that closes it. */
  readonly remedy: string;
}

type Owned = Pick<Stats, 'mode' | 'uid' | 'gid'>;

/**
 * What lets an account other than root and this one change the file, or what is in the folder, at `path`; null if
 * nothing does. Each folder above it counts; where a part is a link, the folders of the link and those of its target.
 * A path where nothing is yet is open if others can make something there, except where this process makes it (`isMade`)
 * and then asks again. A device is closed: only its driver decides.
 */
export function openingOf(path: string, isMade = false): Opening | null {
  // `..` stays: the kernel takes the parent of what a link leads to, not that of the link.
  const whole = isAbsolute(path) ? path : `${process.cwd()}/${path}`;
  const { root } = parse(whole);
  const todo = partsOf(whole);
  let at = root;
  let links = 0;
  let opening = changeable(at, statsOf(at), todo.length > 0);
  for (let name = todo.shift(); opening === null && name !== undefined; name = todo.shift()) {
    // `at` has no link in it, so its parent was looked at before.
    const next = name === '..' ? dirname(at) : join(at, name);
    const stats = statsOf(next);
    if (stats === null) return canMake(at) && !isMade ? missing(next) : null;
    if (stats.isSymbolicLink()) {
      opening = foreign(next, stats);
      const target = targetOf(next);
      if (target === null || (links += 1) > LINKS_MAX) break;
      if (isAbsolute(target)) at = root;
      todo.unshift(...partsOf(target));
    } else {
      opening = changeable(next, stats, todo.length > 0);
      at = next;
    }
  }
  return opening;
}

/** The same for a process that is root, which does not read what others can change; null for every other account. */
export function openingForRoot(path: string, isMade = false): Opening | null {
  return process.geteuid?.() === 0 ? openingOf(path, isMade) : null;
}

/** One line for people, with the command that closes it. */
export function openingText({ path, why, remedy }: Opening): string {
  return `${path} ${why}: ${remedy}`;
}

/** Whether other accounts than root and this one may read a file, by its mode alone. */
export function isReadByOthers({ mode, gid }: Owned): boolean {
  return (mode & OTHERS_READ) !== 0 || ((mode & GROUP_READS) !== 0 && !isPrivateGroup(gid));
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    // Missing, or closed to this account, which then cannot use it.
    return null;
  }
}

function targetOf(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

/** `isAbove`: a folder of which only one entry counts, whose owner is looked at next. */
function changeable(path: string, stats: Stats | null, isAbove: boolean): Opening | null {
  if (stats === null || stats.isCharacterDevice() || stats.isBlockDevice()) return null;
  const owner = foreign(path, stats);
  if (owner !== null || (isAbove && (stats.mode & STICKY) !== 0)) return owner;
  const who = writers(stats);
  if (who === null) return null;
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  return { path, why: `has mode ${mode}, so that others can change it`, remedy: `chmod ${who}-w ${word(path)}` };
}

/** Whom the mode lets write besides the owner, as chmod names them. */
function writers({ mode, gid }: Owned): string | null {
  const group = (mode & GROUP_WRITES) !== 0 && !isPrivateGroup(gid) ? 'g' : '';
  const others = (mode & OTHERS_WRITE) === 0 ? '' : 'o';
  return group + others === '' ? null : group + others;
}

function foreign(path: string, { uid }: Owned): Opening | null {
  if (isTrusted(uid)) return null;
  const self = process.geteuid?.() ?? 0;
  const remedy = `chown ${self === 0 ? 'root' : self} ${word(path)}, or choose another place`;
  return { path, why: `belongs to user ${uid}`, remedy };
}

function canMake(folder: string): boolean {
  const stats = statsOf(folder);
  return stats !== null && writers(stats) !== null;
}

function missing(path: string): Opening {
  return { path, why: 'is missing, and others can make it', remedy: 'choose another place' };
}

function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.() || (uid === UNMAPPED && !isMapped(uid));
}

/** An account that has no number here is one outside of the container: no process in it can become that account. */
function isMapped(uid: number): boolean {
  const ranges = linesOf('/proc/self/uid_map').map((line) => line.trim().split(/ +/).map(Number));
  return ranges.length === 0 || ranges.some(([first = 0, , count = 0]) => uid >= first && uid < first + count);
}

/** Whether root and this account are the only members of a group, by the files of the machine. */
function isPrivateGroup(gid: number): boolean {
  const groups = linesOf('/etc/group').map((line) => line.split(':'));
  const named = groups.filter(([, , id]) => numberOf(id) === gid);
  const accounts = linesOf('/etc/passwd').map((line) => line.split(':'));
  const uidOf = new Map(accounts.map(([name = '', , uid]) => [name, numberOf(uid)]));
  const members = [
    ...named.flatMap(([, , , names = '']) => names.split(',').filter(Boolean)),
    ...accounts.flatMap(([name = '', , , primary]) => (numberOf(primary) === gid ? [name] : [])),
  ];
  // A group of a directory service has members that these files do not name.
  return named.length > 0 && members.every((name) => isTrusted(uidOf.get(name) ?? Number.NaN));
}

/** An entry that stands for a directory service has no number. */
function numberOf(text = ''): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** A word of a command of the shell. */
function word(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
