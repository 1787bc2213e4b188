import { MADE_CALLS, type MadeCalls } from './made-calls.ts';

/** The numbers of the system calls of one processor: those that the service makes, and those that the filter treats. */
export interface CallNumbers {
  /** AUDIT_ARCH_* as seccomp shows it. */
  readonly auditArch: number;
  /** Calls from this number on belong to another ABI of the same audit arch (x32), and are refused. */
  readonly foreignFrom: number | null;
  readonly made: MadeCalls;
  readonly inspected: Record<InspectedCall, number>;
  /** Calls that set the mode of a file. A newer processor has only the forms that take a directory's descriptor. */
  readonly modes: Readonly<Partial<Record<ModeCall, number>>>;
  /** Calls that name a process whose scheduling, memory or limits they change. */
  readonly targeted: Record<TargetedCall, number>;
  readonly refused: Readonly<Record<string, number>>;
}

type InspectedCall =
  | 'socket'
  | 'socketpair'
  | 'sendto'
  | 'sendmsg'
  | 'sendmmsg'
  | 'clone'
  | 'clone3'
  | 'ioctl'
  | 'openat2'
  | 'setrlimit'
  | 'truncate';
export type ModeCall =
  | 'chmod'
  | 'fchmod'
  | 'fchmodat'
  | 'fchmodat2'
  | 'open'
  | 'openat'
  | 'creat'
  | 'mkdir'
  | 'mkdirat'
  | 'mknod'
  | 'mknodat';
export type TargetedCall =
  | 'sched_setaffinity'
  | 'sched_setscheduler'
  | 'sched_setparam'
  | 'sched_setattr'
  | 'setpriority'
  | 'ioprio_set'
  | 'prlimit64'
  | 'migrate_pages'
  | 'move_pages';

/**
 * Refused everywhere. What an unprivileged process may do with them is to reach into other processes, to start work
 * that no filter sees (io_uring connects sockets past it), or to open parts of the kernel that a tool does not need.
 * The tables of the processors add System V and POSIX message queues, shared memory and semaphores: all processes of an
 * account share them, in a sandbox or not, and their memory stays taken when the job has ended.
 */
const REFUSED_EVERYWHERE = {
  pidfd_send_signal: 424,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_open: 434,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  process_mrelease: 448,
  open_tree_attr: 467,
};

const X64: CallNumbers = {
  auditArch: 0xc000_003e,
  foreignFrom: 0x4000_0000,
  made: MADE_CALLS.x64,
  inspected: {
    socket: 41,
    socketpair: 53,
    sendto: 44,
    sendmsg: 46,
    sendmmsg: 307,
    clone: 56,
    clone3: 435,
    ioctl: 16,
    openat2: 437,
    setrlimit: 160,
    truncate: 76,
  },
  modes: {
    open: 2,
    mkdir: 83,
    creat: 85,
    chmod: 90,
    fchmod: 91,
    mknod: 133,
    openat: 257,
    mkdirat: 258,
    mknodat: 259,
    fchmodat: 268,
    fchmodat2: 452,
  },
  targeted: {
    setpriority: 141,
    sched_setparam: 142,
    sched_setscheduler: 144,
    sched_setaffinity: 203,
    ioprio_set: 251,
    migrate_pages: 256,
    move_pages: 279,
    prlimit64: 302,
    sched_setattr: 314,
  },
  refused: {
    shmget: 29,
    shmat: 30,
    shmctl: 31,
    semget: 64,
    semop: 65,
    semctl: 66,
    msgget: 68,
    msgsnd: 69,
    msgrcv: 70,
    msgctl: 71,
    semtimedop: 220,
    mq_open: 240,
    mq_unlink: 241,
    ptrace: 101,
    syslog: 103,
    vhangup: 153,
    modify_ldt: 154,
    pivot_root: 155,
    adjtimex: 159,
    chroot: 161,
    acct: 163,
    settimeofday: 164,
    mount: 165,
    umount2: 166,
    swapon: 167,
    swapoff: 168,
    reboot: 169,
    iopl: 172,
    ioperm: 173,
    init_module: 175,
    delete_module: 176,
    quotactl: 179,
    lookup_dcookie: 212,
    clock_settime: 227,
    kexec_load: 246,
    add_key: 248,
    request_key: 249,
    keyctl: 250,
    unshare: 272,
    perf_event_open: 298,
    fanotify_init: 300,
    open_by_handle_at: 304,
    clock_adjtime: 305,
    setns: 308,
    process_vm_readv: 310,
    process_vm_writev: 311,
    kcmp: 312,
    finit_module: 313,
    kexec_file_load: 320,
    bpf: 321,
    userfaultfd: 323,
    ...REFUSED_EVERYWHERE,
  },
};

const ARM64: CallNumbers = {
  auditArch: 0xc000_00b7,
  foreignFrom: null,
  made: MADE_CALLS.arm64,
  inspected: {
    socket: 198,
    socketpair: 199,
    sendto: 206,
    sendmsg: 211,
    sendmmsg: 269,
    clone: 220,
    clone3: 435,
    ioctl: 29,
    openat2: 437,
    setrlimit: 164,
    truncate: 45,
  },
  modes: { mknodat: 33, mkdirat: 34, fchmod: 52, fchmodat: 53, openat: 56, fchmodat2: 452 },
  targeted: {
    ioprio_set: 30,
    sched_setparam: 118,
    sched_setscheduler: 119,
    sched_setaffinity: 122,
    setpriority: 140,
    migrate_pages: 238,
    move_pages: 239,
    prlimit64: 261,
    sched_setattr: 274,
  },
  refused: {
    lookup_dcookie: 18,
    umount2: 39,
    mount: 40,
    pivot_root: 41,
    chroot: 51,
    vhangup: 58,
    quotactl: 60,
    acct: 89,
    unshare: 97,
    kexec_load: 104,
    init_module: 105,
    delete_module: 106,
    clock_settime: 112,
    syslog: 116,
    ptrace: 117,
    reboot: 142,
    settimeofday: 170,
    adjtimex: 171,
    add_key: 217,
    request_key: 218,
    keyctl: 219,
    swapon: 224,
    swapoff: 225,
    perf_event_open: 241,
    fanotify_init: 262,
    open_by_handle_at: 265,
    clock_adjtime: 266,
    setns: 268,
    process_vm_readv: 270,
    process_vm_writev: 271,
    kcmp: 272,
    finit_module: 273,
    bpf: 280,
    userfaultfd: 282,
    mq_open: 180,
    mq_unlink: 181,
    msgget: 186,
    msgctl: 187,
    msgrcv: 188,
    msgsnd: 189,
    semget: 190,
    semctl: 191,
    semtimedop: 192,
    semop: 193,
    shmget: 194,
    shmctl: 195,
    shmat: 196,
    kexec_file_load: 294,
    ...REFUSED_EVERYWHERE,
  },
};

/** By `process.arch`. A processor without a row here gets no sandboxed jobs. */
export const CALL_NUMBERS: Readonly<Record<string, CallNumbers>> = { x64: X64, arm64: ARM64 };
