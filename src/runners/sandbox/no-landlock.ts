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
const NEEDED = 'sandboxed jobs need Landlock (Linux 5.13 or newer; 6.7 for every kind of job)';
const SINCE = [5, 13] as const;
const CALLS = 'landlock_create_ruleset, landlock_add_rule and landlock_restrict_self';
const ALLOW = `allow ${CALLS} in the seccomp profile of its engine`;
const BOOT = 'start the kernel with lsm=landlock,… (the other modules behind it)';

/**
 * Why there is no Landlock, and what to do: a sentence without its full stop. The kernel itself answers ENOSYS if it
 * was built without, and EOPNOTSUPP if it is switched off. Any other error comes from a filter of system calls, and
 * ENOSYS may.
 */
export function whyNoLandlock({ error, release, modules, isFiltered }: LandlockFacts): string {
  const kernel = `This kernel, ${release},`;
  const name = errorName(error);
  const isActive = modules?.split(',').includes('landlock') ?? null;
  if (isOlder(release)) return `${NEEDED}; this kernel is ${release}`;
  if (error === EOPNOTSUPP) return `${NEEDED}. ${kernel} has it switched off: ${BOOT}`;
  if (isActive === true)
    return `${NEEDED}. ${kernel} has it, but a filter of system calls refuses it (${name}): of a container, ${ALLOW}`;
  if (error !== ENOSYS && error !== 0) {
    const refused = `${NEEDED}. A filter of system calls refuses it (${name}): of a container, ${ALLOW}`;
    return isActive === null ? refused : `${refused}; it is not active in the kernel either (${modules}): ${BOOT}`;
  }
  if (isActive === null && isFiltered === true)
    return (
      `${NEEDED}. ${kernel} is new enough, but its calls are not there (${name}), probably because of the filter of ` +
      `system calls that this process has: of a container, ${ALLOW}; otherwise the kernel was built without it`
    );
  return `${NEEDED}. ${kernel} was built without it`;
}

function isOlder(release: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  if (major === undefined) return false;
  return Number(major) < SINCE[0] || (Number(major) === SINCE[0] && Number(minor) < SINCE[1]);
}

function errorName(error: number): string {
  return Object.entries(constants.errno).find(([, number]) => number === error)?.[0] ?? `error ${error}`;
}
