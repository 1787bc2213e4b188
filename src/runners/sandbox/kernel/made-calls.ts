/** The numbers of the system calls that the service makes itself or lists for a child, by processor. */

type MadeCall =
  | 'capget'
  | 'capset'
  | 'chdir'
  | 'close'
  | 'close_range'
  | 'dup3'
  | 'execve'
  | 'exit_group'
  | 'fchmod'
  | 'fchmodat'
  | 'fchown'
  | 'fchownat'
  | 'fcntl'
  | 'getdents64'
  | 'getxattr'
  | 'kill'
  | 'landlock_add_rule'
  | 'landlock_create_ruleset'
  | 'landlock_restrict_self'
  | 'madvise'
  | 'mkdirat'
  | 'mmap'
  | 'mprotect'
  | 'openat'
  | 'pipe2'
  | 'prctl'
  | 'prlimit64'
  | 'read'
  | 'readlinkat'
  | 'renameat2'
  | 'rt_sigaction'
  | 'rt_sigprocmask'
  | 'seccomp'
  | 'setgroups'
  | 'setresgid'
  | 'setresuid'
  | 'setsid'
  | 'symlinkat'
  | 'unlinkat'
  | 'waitid'
  | 'write';

export type MadeCalls = Readonly<Record<MadeCall, number>>;

/** Calls that came after the tables were unified have one number everywhere. */
const UNIFIED = { close_range: 436, landlock_create_ruleset: 444, landlock_add_rule: 445, landlock_restrict_self: 446 };

export const MADE_CALLS = {
  x64: {
    read: 0,
    write: 1,
    close: 3,
    mmap: 9,
    mprotect: 10,
    rt_sigaction: 13,
    rt_sigprocmask: 14,
    madvise: 28,
    execve: 59,
    kill: 62,
    fcntl: 72,
    chdir: 80,
    fchmod: 91,
    fchown: 93,
    setsid: 112,
    setgroups: 116,
    setresuid: 117,
    setresgid: 119,
    capget: 125,
    capset: 126,
    prctl: 157,
    getxattr: 191,
    getdents64: 217,
    exit_group: 231,
    waitid: 247,
    openat: 257,
    mkdirat: 258,
    fchownat: 260,
    unlinkat: 263,
    symlinkat: 266,
    readlinkat: 267,
    fchmodat: 268,
    dup3: 292,
    pipe2: 293,
    prlimit64: 302,
    renameat2: 316,
    seccomp: 317,
    ...UNIFIED,
  },
  arm64: {
    getxattr: 8,
    dup3: 24,
    fcntl: 25,
    mkdirat: 34,
    unlinkat: 35,
    symlinkat: 36,
    chdir: 49,
    fchmod: 52,
    fchmodat: 53,
    fchownat: 54,
    fchown: 55,
    openat: 56,
    close: 57,
    pipe2: 59,
    getdents64: 61,
    read: 63,
    write: 64,
    readlinkat: 78,
    capget: 90,
    capset: 91,
    exit_group: 94,
    waitid: 95,
    kill: 129,
    rt_sigaction: 134,
    rt_sigprocmask: 135,
    setresuid: 147,
    setresgid: 149,
    setsid: 157,
    setgroups: 159,
    prctl: 167,
    execve: 221,
    mmap: 222,
    mprotect: 226,
    madvise: 233,
    prlimit64: 261,
    renameat2: 276,
    seccomp: 277,
    ...UNIFIED,
  },
} as const satisfies Readonly<Record<string, MadeCalls>>;
