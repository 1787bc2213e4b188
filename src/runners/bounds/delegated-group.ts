import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../lib/error-code.ts';
import { isMarkedAsDelegated } from './delegation-mark.ts';

/** The control group of the daemon itself, below the delegated one: a group with controllers has no processes. */
const DAEMON_GROUP = 'daemon';
const NEEDED_CONTROLLERS = ['memory', 'pids'];
/** With it a job of many processes gets no more of the processors than the daemon. */
const WANTED_CONTROLLERS = [...NEEDED_CONTROLLERS, 'cpu'];

/** Where the control groups of this process are. Other places are for tests. */
export interface GroupPlace {
  /** The file system of control groups, version 2. */
  readonly mount: string;
  /** Names the group of this process. */
  readonly ownGroupFile: string;
  readonly isMarked: (group: string) => boolean;
}

const GROUP_PLACE: GroupPlace = {
  mount: '/sys/fs/cgroup',
  ownGroupFile: '/proc/self/cgroup',
  isMarked: isMarkedAsDelegated,
};

/** There is no control group that this process may divide. The message is a clause. */
export class NoDelegatedGroup extends Error {
  override readonly name: string = 'NoDelegatedGroup';
}

/**
 * Finds the control group that was delegated to this process, moves this process into a group below it, and enables
 * the controllers for groups of jobs. The result is the path of the delegated group. Without one it throws
 * NoDelegatedGroup and changes nothing. Processes that this one starts afterwards begin in the group of the daemon.
 */
export function takeDelegatedGroup(place: GroupPlace = GROUP_PLACE): string {
  const group = findGroup(place);
  const daemonGroup = join(group, DAEMON_GROUP);
  try {
    mkdirSync(daemonGroup, { recursive: true });
    moveTo(daemonGroup);
    enable(group);
    return group;
  } catch (error) {
    leave(group, daemonGroup);
    // The kernel enables no controller for a group that has processes itself.
    const why = errorCode(error) === 'EBUSY' ? 'other processes are in it' : (errorCode(error) ?? 'unknown error');
    throw new NoDelegatedGroup(`control group ${group} cannot be divided: ${why}`, { cause: error });
  }
}

function findGroup({ mount, ownGroupFile, isMarked }: GroupPlace): string {
  const own = /^0::(\/.*)$/m.exec(read(ownGroupFile))?.[1];
  if (own === undefined) throw new NoDelegatedGroup('this system has no control groups of version 2');
  // A service manager may have started this process in the group of the daemon already.
  const path = basename(own) === DAEMON_GROUP ? dirname(own) : own;
  const group = join(mount, path);
  const controllers = read(join(group, 'cgroup.controllers')).split(/\s+/);
  const missing = NEEDED_CONTROLLERS.filter((name) => !controllers.includes(name));
  if (missing.length > 0)
    throw new NoDelegatedGroup(`control group ${group} has no controller for ${missing.join(' and ')}`);
  if (!existsSync(join(group, 'cgroup.kill')))
    throw new NoDelegatedGroup(`control group ${group} cannot be ended as a whole (Linux 5.14 can)`);
  const needed = [group, join(group, 'cgroup.procs'), join(group, 'cgroup.subtree_control')];
  // A service manager changes groups that it has not delegated. The root of a container belongs to the container.
  if (!needed.every(isWritable) || !(path === '/' || isMarked(group) || !isWritable(dirname(group))))
    throw new NoDelegatedGroup(`control group ${group} is not delegated to the service`);
  return group;
}

function enable(group: string): void {
  const controllers = read(join(group, 'cgroup.controllers')).split(/\s+/);
  const wanted = WANTED_CONTROLLERS.filter((name) => controllers.includes(name));
  writeFileSync(join(group, 'cgroup.subtree_control'), wanted.map((name) => `+${name}`).join(' '));
}

function moveTo(group: string): void {
  writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
}

/** Undoes as much as possible: nothing depends on it. */
function leave(group: string, daemonGroup: string): void {
  try {
    moveTo(group);
    rmdirSync(daemonGroup);
  } catch {
    // Never entered.
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Empty where it cannot be read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
