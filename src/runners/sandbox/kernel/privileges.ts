import { readFileSync } from 'node:fs';
import type { AccountIds } from '../../../domain/jobs/account.ts';
import type { ResourceLimits } from '../protocol.ts';
import type { SystemCalls } from './system-call.ts';
import { pointerTo } from './system-call.ts';

const PR_CAPBSET_READ = 23;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
const CAPABILITY_VERSION_3 = 0x2008_0522;
/** The size of the kernel's bit sets; it returns EINVAL for the first unknown capability. */
const CAPABILITIES_AT_MOST = 64;
const SECCOMP_SET_MODE_FILTER = 1;
const RLIMIT_AS = 9;

/** The capabilities of the bounding set: read while there is time, before the order. */
export function boundingSet(system: SystemCalls): number[] {
  const all = Array.from({ length: CAPABILITIES_AT_MOST }, (_, capability) => capability);
  return all.filter((capability) => system.call(system.numbers.made.prctl, PR_CAPBSET_READ, capability) === 1);
}

/**
 * Empties the bounding set, before a change of the account takes away the right to. As root it decides what the tool
 * gets when it is executed, and with CAP_PERFMON left in it /proc/<daemon>/environ stays readable in spite of Landlock.
 * As another user nothing can come back (no new privileges), and the set is not ours to change.
 */
export function emptyBoundingSet(system: SystemCalls, bounding: readonly number[]): void {
  const { prctl } = system.numbers.made;
  const isRoot = process.geteuid?.() === 0;
  for (const capability of bounding) {
    const dropped = system.call(prctl, PR_CAPBSET_DROP, capability);
    if (dropped !== 0 && isRoot) throw new Error(`dropping capability ${capability} failed with error ${-dropped}`);
    if (dropped !== 0) break;
  }
}

/** Takes every capability away, for good once the bounding set is empty. */
export function dropCapabilities(system: SystemCalls): void {
  const { prctl, capset } = system.numbers.made;
  const cleared = system.call(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (cleared !== 0) throw new Error(`clearing the ambient capabilities failed with error ${-cleared}`);
  const header = Buffer.alloc(8);
  header.writeUInt32LE(CAPABILITY_VERSION_3, 0);
  const none = Buffer.alloc(24);
  const set = system.call(capset, header, none);
  if (set !== 0) throw new Error(`capset failed with error ${-set}`);
}

/** All four ids of a line of /proc/self/status: real, effective, saved, and of files. */
function idsOf(status: string, name: 'Uid' | 'Gid'): string[] {
  return (new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '').split(/\s+/);
}

/**
 * Makes this process another account, for good and without supplementary groups. Throws unless the kernel shows that
 * all of it took effect.
 */
export function becomeAccount({ uid, gid }: AccountIds): void {
  if (uid === 0 || gid === 0) throw new Error('the account of a job must not be root');
  if (process.setgroups === undefined || process.setgid === undefined || process.setuid === undefined) {
    throw new Error('this system has no accounts');
  }
  process.setgroups([]);
  process.setgid(gid);
  process.setuid(uid);
  const status = readFileSync('/proc/self/status', 'latin1');
  const isOther =
    idsOf(status, 'Uid').some((id) => id !== String(uid)) || idsOf(status, 'Gid').some((id) => id !== String(gid));
  const groups = /^Groups:[ \t]*(.*)$/m.exec(status)?.[1]?.trim();
  if (isOther || groups !== '') throw new Error(`becoming account ${uid} did not take effect`);
}

/** Applies to this process and to what it executes. */
export function limitResources(system: SystemCalls, { addressSpaceBytes }: ResourceLimits): void {
  if (addressSpaceBytes === undefined) return;
  const limit = Buffer.alloc(16);
  limit.writeBigUInt64LE(BigInt(addressSpaceBytes), 0);
  limit.writeBigUInt64LE(BigInt(addressSpaceBytes), 8);
  const result = system.call(system.numbers.made.prlimit64, 0, RLIMIT_AS, limit, 0);
  if (result !== 0) throw new Error(`limiting the address space failed with error ${-result}`);
}

/** From here on no executed file gives a privilege; Landlock and seccomp demand this of who is not root. */
export function forbidNewPrivileges(system: SystemCalls): void {
  const result = system.call(system.numbers.made.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (result !== 0) throw new Error(`setting no new privileges failed with error ${-result}`);
}

/** Installs the filter for the calling thread and whatever it executes. */
export function installFilter(system: SystemCalls, program: Buffer): void {
  const header = Buffer.alloc(16);
  header.writeUInt16LE(program.length / 8, 0);
  header.writeBigUInt64LE(pointerTo(program), 8);
  const result = system.call(system.numbers.made.seccomp, SECCOMP_SET_MODE_FILTER, 0, header);
  if (result !== 0) throw new Error(`installing the seccomp filter failed with error ${-result}`);
}
