import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CALL_NUMBERS } from './call-numbers.ts';
import { seccompProgram } from './seccomp.ts';

const ALLOW = 0x7fff_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;
const EAFNOSUPPORT = 0x0005_0061;
const KILL = 0x8000_0000;

/** The filter of a job on a new kernel, with all sockets. */
const ALL = { unixSockets: true, internet: true, limitsTruncation: true };

/** What the kernel would do with the filter: the few instructions that it is made of, and nothing else. */
function judge(program: Buffer, call: { nr: number; arch: number; args?: readonly number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.nr >>> 0, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, value] of (call.args ?? []).entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index);
  let word = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const [jumpTrue, jumpFalse] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return value;
    if (code === 0x20) word = data.readUInt32LE(value);
    else if (code === 0x54) word = (word & value) >>> 0;
    else if (code === 0x15) at += word === value ? jumpTrue : jumpFalse;
    else if (code === 0x35) at += word >= value ? jumpTrue : jumpFalse;
    else if (code === 0x45) at += (word & value) !== 0 ? jumpTrue : jumpFalse;
    else assert.fail(`an instruction that no rule uses: ${code}`);
  }
  return assert.fail('the filter ran over its end');
}

for (const [name, numbers] of Object.entries(CALL_NUMBERS)) {
  describe(`the system call filter of ${name}`, () => {
    const program = seccompProgram(numbers, ALL);
    const { inspected } = numbers;
    const verdict = (nr: number, ...args: number[]): number => judge(program, { nr, arch: numbers.auditArch, args });

    it('allows TCP, UDP, unix and routing sockets, with any of the socket flags', () => {
      const flags = 0o2000000 | 0o4000;
      for (const [domain, type, protocol] of [
        [2, 1, 0],
        [2, 1, 6],
        [10, 1, 0],
        [10, 1, 6],
        [2, 2, 0],
        [2, 2, 17],
        [10, 2, 17],
        [1, 1, 0],
        [1, 2, 0],
        [1, 5, 0],
        [16, 3, 0],
      ] as const) {
        assert.equal(verdict(inspected.socket, domain, type, protocol), ALLOW, `${domain} ${type} ${protocol}`);
        assert.equal(
          verdict(inspected.socket, domain, type | flags, protocol),
          ALLOW,
          `${domain} ${type} ${protocol} with flags`,
        );
      }
    });

    it('refuses MPTCP, raw, ICMP, SCTP, UDP-Lite, packet, vsock, SMC and other netlink sockets', () => {
      for (const [domain, type, protocol] of [
        [2, 1, 262],
        [10, 1, 262],
        [2, 1, 132],
        [2, 5, 132],
        [2, 2, 1],
        [2, 2, 136],
        [2, 3, 255],
        [10, 3, 58],
        [17, 3, 768],
        [40, 1, 0],
        [43, 1, 0],
        [16, 3, 16],
        [38, 5, 0],
        [0, 1, 0],
      ] as const) {
        assert.equal(verdict(inspected.socket, domain, type, protocol), EPERM, `${domain} ${type} ${protocol}`);
      }
    });

    it('refuses to send with MSG_FASTOPEN, which connects past Landlock, and allows other sending', () => {
      const fastOpen = 0x2000_0000;
      assert.equal(verdict(inspected.sendto, 3, 0, 1, fastOpen | 0x4000), EPERM);
      assert.equal(verdict(inspected.sendmsg, 3, 0, fastOpen), EPERM);
      assert.equal(verdict(inspected.sendmmsg, 3, 0, 1, fastOpen), EPERM);
      assert.equal(verdict(inspected.sendto, 3, 0, 1, 0x4000), ALLOW);
      assert.equal(verdict(inspected.sendmsg, 3, 0, 0x4000), ALLOW);
      assert.equal(verdict(inspected.sendmmsg, 3, 0, 1, 0x4000), ALLOW);
    });

    it('allows threads and forks but no new namespace, and sends clone3 back to clone', () => {
      assert.equal(verdict(inspected.clone, 0x003d_0f00), ALLOW);
      assert.equal(verdict(inspected.clone, 17), ALLOW);
      // A child of the caller's parent would be the daemon's, which never waits for it.
      assert.equal(verdict(inspected.clone, 0x8000 | 17), EPERM);
      for (const flag of [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000]) {
        assert.equal(verdict(inspected.clone, flag | 17), EPERM, flag.toString(16));
      }
      assert.equal(verdict(inspected.clone3, 0, 0), ENOSYS);
    });

    it('T67: refuses unix sockets where the job gets none, and still allows the others', () => {
      const without = seccompProgram(numbers, { ...ALL, unixSockets: false });
      const answer = (...args: number[]): number =>
        judge(without, { nr: inspected.socket, arch: numbers.auditArch, args });
      for (const type of [1, 2, 5, 1 | 0o2000000]) assert.equal(answer(1, type, 0), EPERM, String(type));
      assert.deepEqual([answer(2, 1, 0), answer(10, 2, 17), answer(16, 3, 0)], [ALLOW, ALLOW, ALLOW]);
    });

    it('T67: makes no pair of datagram sockets where the job gets no unix sockets: each end reaches named ones', () => {
      const without = seccompProgram(numbers, { ...ALL, unixSockets: false });
      const pair = (...args: number[]): number =>
        judge(without, { nr: inspected.socketpair, arch: numbers.auditArch, args });
      const flags = 0o2000000 | 0o4000;
      for (const type of [1, 5])
        for (const more of [0, flags]) assert.equal(pair(1, type | more, 0), ALLOW, String(type));
      for (const type of [2, 3, 4, 0])
        for (const more of [0, flags]) assert.equal(pair(1, type | more, 0), EPERM, String(type));
      assert.equal(verdict(inspected.socketpair, 1, 2, 0), ALLOW);
      for (const domain of [30, 2, 0])
        assert.deepEqual([pair(domain, 1, 0), verdict(inspected.socketpair, domain, 1, 0)], [EPERM, EPERM]);
    });

    it('makes no internet socket where the job gets none, and still allows the others', () => {
      const offline = seccompProgram(numbers, { ...ALL, internet: false });
      const answer = (...args: number[]): number =>
        judge(offline, { nr: inspected.socket, arch: numbers.auditArch, args });
      for (const domain of [2, 10])
        for (const type of [1, 2, 3, 1 | 0o2000000])
          for (const protocol of [0, 6, 17, 262])
            assert.equal(answer(domain, type, protocol), EAFNOSUPPORT, `${domain} ${type} ${protocol}`);
      assert.deepEqual([answer(1, 1, 0), answer(16, 3, 0), answer(17, 3, 0)], [ALLOW, ALLOW, EPERM]);
    });

    it('T34: cuts no file short that is not opened for writing, where Landlock has no right for it', () => {
      const older = seccompProgram(numbers, { ...ALL, limitsTruncation: false });
      const judged = (on: Buffer, nr: number, ...args: number[]): number =>
        judge(on, { nr, arch: numbers.auditArch, args });
      const opens: [number | undefined, number[]][] = [
        [numbers.modes.open, [9]],
        [numbers.modes.openat, [3, 9]],
      ];
      for (const [nr, before] of opens) {
        if (nr === undefined) continue;
        for (const more of [0, 0o100, 0o2000000, 0o20200000]) {
          // Reading, and the access mode that needs neither right of Landlock.
          for (const access of [0, 3]) assert.equal(judged(older, nr, ...before, access | 0o1000 | more, 0o644), EPERM);
          for (const access of [1, 2]) assert.equal(judged(older, nr, ...before, access | 0o1000 | more, 0o644), ALLOW);
          for (const access of [0, 1, 2, 3]) assert.equal(judged(older, nr, ...before, access | more, 0o644), ALLOW);
        }
        assert.equal(judged(older, nr, ...before, 0o1101, 0o4755), EPERM, 'the mode is still looked at');
        assert.equal(judged(older, nr, ...before, 0o1001, 0o4755), ALLOW);
        assert.equal(judged(program, nr, ...before, 0o1000, 0), ALLOW);
      }
      assert.equal(judged(older, inspected.truncate, 9, 0), EPERM);
      assert.equal(judged(program, inspected.truncate, 9, 0), ALLOW);
      assert.equal(judged(older, inspected.openat2, 3, 9, 9), ENOSYS);
      if (numbers.modes.creat !== undefined) assert.equal(judged(older, numbers.modes.creat, 9, 0o644), ALLOW);
    });

    it('T66: refuses the set-user-ID and set-group-ID bits in each call that sets a mode', () => {
      const { chmod, fchmod, fchmodat, fchmodat2, open, openat, creat, mkdir, mkdirat, mknod, mknodat } = numbers.modes;
      const modeAt: [number | undefined, number[]][] = [
        [chmod, [9]],
        [fchmod, [9]],
        [fchmodat, [3, 9]],
        [fchmodat2, [3, 9]],
        [creat, [9]],
        [mkdir, [9]],
        [mkdirat, [3, 9]],
        [mknod, [9]],
        [mknodat, [3, 9]],
        [open, [9, 0o100]],
        [openat, [3, 9, 0o100]],
        [open, [9, 0o20200000]],
        [openat, [3, 9, 0o20200000]],
      ];
      for (const [nr, before] of modeAt) {
        if (nr === undefined) continue;
        for (const bits of [0o4000, 0o2000, 0o6000])
          assert.equal(verdict(nr, ...before, bits | 0o100755), EPERM, `${nr} ${bits}`);
        assert.equal(verdict(nr, ...before, 0o101777), ALLOW, String(nr));
      }
      // Without O_CREAT the argument is whatever the register held.
      for (const [nr, ...args] of [
        [open, 9, 0o200000],
        [openat, 3, 9, 0o200000],
      ])
        if (nr !== undefined) assert.equal(verdict(nr, ...(args as number[]), 0o6755), ALLOW);
      assert.equal(verdict(inspected.openat2, 3, 9, 9), ENOSYS);
    });

    it('T68: allows scheduling and limits of the calling thread, of no other process, user or group', () => {
      const { setpriority, ioprio_set, ...byPid } = numbers.targeted;
      for (const [name, nr] of Object.entries(byPid)) {
        assert.equal(verdict(nr, 0, 7, 1), ALLOW, name);
        for (const pid of [4711, 1, -1]) assert.equal(verdict(nr, pid, 7, 1), EPERM, name);
      }
      for (const which of [0, 1, 2, 3]) {
        assert.equal(verdict(setpriority, which, 0, 19), which === 0 ? ALLOW : EPERM);
        assert.equal(verdict(ioprio_set, which, 0, 19), which === 1 ? ALLOW : EPERM);
        for (const nr of [setpriority, ioprio_set]) assert.equal(verdict(nr, which, 4711, 19), EPERM);
      }
    });

    it('T77: leaves the limit that marks a job as it is, and lets it be read', () => {
      const { prlimit64 } = numbers.targeted;
      for (const [nr, ...before] of [[prlimit64, 0], [inspected.setrlimit]] as [number, ...number[]][]) {
        for (const address of [4711, 2 ** 40]) assert.equal(verdict(nr, ...before, 15, address), EPERM);
        assert.equal(verdict(nr, ...before, 15, 0), ALLOW);
        for (const resource of [0, 7, 9]) assert.equal(verdict(nr, ...before, resource, 4711), ALLOW);
      }
    });

    it('refuses each call of its table, and typing into a terminal', () => {
      assert.ok(Object.keys(numbers.refused).length > 40);
      for (const [call, number] of Object.entries(numbers.refused)) assert.equal(verdict(number), EPERM, call);
      assert.equal(verdict(inspected.ioctl, 0, 0x5412), EPERM);
      assert.equal(verdict(inspected.ioctl, 0, 0x5401), ALLOW);
    });

    it('names no call twice, and none that the launcher needs afterwards', () => {
      const refused = Object.values(numbers.refused);
      assert.equal(new Set(refused).size, refused.length);
      assert.equal(verdict(numbers.made.execve), ALLOW);
      assert.equal(verdict(numbers.made.exit_group), ALLOW);
      const examined = [
        ...Object.values(inspected),
        ...Object.values(numbers.modes),
        ...Object.values(numbers.targeted),
      ];
      assert.equal(new Set(examined).size, examined.length);
      for (const number of examined) assert.ok(!refused.includes(number));
    });

    it('kills a program of another processor, and refuses another ABI of the same', () => {
      assert.equal(judge(program, { nr: 1, arch: 0x4000_0003 }), KILL);
      if (numbers.foreignFrom !== null) assert.equal(verdict(numbers.foreignFrom + inspected.socket, 2, 1, 262), EPERM);
    });
  });
}
