import { constants } from 'node:os';

/** What is known of a machine that enforces no Landlock. */
export interface LandlockFacts {
  /** What the call for the version of Landlock failed with; 0 if it did not fail. */
  readonly error: number;
  /** Of the kernel, such as `6.1.0-56-amd64`. */
  readonly release: string;
  /** The active security modules, separated by commas; null where the list cannot be read, as in most containers. */
  readonly modules: string | null;
  /** Whether this process has a filter of system calls; null if unknown. */
  readonly isFiltered: boolean | null;
}

const { EOPNOTSUPP, ENOSYS } = constants.errno;
const SINCE = [5, 13] as const;
const ALLOW = 'allow it in the seccomp profile';
/** It has what to do in each case: a reason is a line of a log or a terminal. */
const MORE = 'see "Where Landlock is missing" in docs/explanation/sandbox.md';

/**
 * Why there is no Landlock, and where to read what to do: a sentence without its full stop. The kernel itself answers
 * ENOSYS if it was built without, and EOPNOTSUPP if it is switched off. Any other error comes from a filter of system
 * calls, and ENOSYS may.
 */
export function whyNoLandlock(facts: LandlockFacts): string {
  return `sandboxed jobs need Landlock, ${causeOf(facts)}; ${MORE}`;
}

function causeOf({ error, release, modules, isFiltered }: LandlockFacts): string {
  const kernel = `this kernel, ${release},`;
  const name = errorName(error);
  const isActive = modules?.split(',').includes('landlock') ?? null;
  if (isOlder(release)) return `of Linux 5.13 or newer (6.7 for every kind of job), and this kernel is ${release}`;
  if (error === EOPNOTSUPP) return `which ${kernel} has switched off: start it with lsm=landlock,…`;
  if (isActive === true) return `which ${kernel} has and a filter of system calls refuses (${name}): ${ALLOW}`;
  if (error !== ENOSYS && error !== 0) {
    const refused = `which a filter of system calls refuses (${name}): ${ALLOW}`;
    return isActive === null ? refused : `${refused}, and start the kernel with lsm=landlock,…`;
  }
  if (isActive === null && isFiltered === true)
    return `whose calls are not there (${name}), probably because of a filter of system calls: ${ALLOW}`;
  return `which ${kernel} was built without`;
}

function isOlder(release: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  if (major === undefined) return false;
  return Number(major) < SINCE[0] || (Number(major) === SINCE[0] && Number(minor) < SINCE[1]);
}

function errorName(error: number): string {
  return Object.entries(constants.errno).find(([, number]) => number === error)?.[0] ?? `error ${error}`;
}
