/**
 * Becomes a program whose calls to Landlock are refused by a filter of system calls:
 * `node_modules/.bin/node test/support/faults/without-landlock.ts [--errno ENOSYS|EPERM] PROGRAM [ARGUMENT...]`. The
 * engine of a container whose list of calls is older than Landlock installs such a filter. All that the program starts
 * has it too.
 */
import ffi from 'node:ffi';
import { constants } from 'node:os';
import { isAbsolute } from 'node:path';
import { openSystemCalls } from '../../../src/runners/sandbox/kernel/system-call.ts';
import { find } from '../tools.ts';

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];
const LOAD_CALL: Instruction = [0x20, 0, 0, 0];
const ALLOW: Instruction = [0x06, 0, 0, 0x7fff_0000];
const unlessCall = (number: number): Instruction => [0x15, 0, 1, number];
const fail = (errno: number): Instruction => [0x06, 0, 0, 0x0005_0000 | errno];

const ERRORS = { ENOSYS: constants.errno.ENOSYS, EPERM: constants.errno.EPERM };

function refuse(calls: readonly number[], errno: number): void {
  const system = openSystemCalls();
  const instructions = [LOAD_CALL, ...calls.flatMap((call) => [unlessCall(call), fail(errno)]), ALLOW];
  const filter = Buffer.alloc(8 * instructions.length);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of instructions.entries()) {
    filter.writeUInt16LE(code, 8 * index);
    filter.writeUInt8(jumpTrue, 8 * index + 2);
    filter.writeUInt8(jumpFalse, 8 * index + 3);
    filter.writeUInt32LE(value, 8 * index + 4);
  }
  const program = Buffer.alloc(16);
  program.writeUInt16LE(instructions.length, 0);
  program.writeBigUInt64LE(ffi.getRawPointer(filter), 8);
  const { prctl, seccomp } = system.numbers.made;
  const install = (): number => system.call(seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
  // Root may install it as it is. Another user first has to give up setuid programs.
  if (install() === 0) return;
  system.call(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const result = install();
  if (result !== 0) throw new Error(`installing the filter failed with error ${-result}`);
}

function main(words: readonly string[]): void {
  const [option, name = ''] = words;
  const errno = option === '--errno' ? Object.entries(ERRORS).find(([each]) => each === name)?.[1] : ERRORS.ENOSYS;
  const [program, ...rest] = option === '--errno' ? words.slice(2) : words;
  if (errno === undefined || program === undefined)
    throw new Error(`usage: without-landlock.ts [--errno ${Object.keys(ERRORS).join('|')}] PROGRAM [ARGUMENT...]`);
  const path = isAbsolute(program) ? program : find(program);
  if (path === null) throw new Error(`${program}: not on the PATH`);
  const { landlock_create_ruleset, landlock_add_rule, landlock_restrict_self } = openSystemCalls().numbers.made;
  refuse([landlock_create_ruleset, landlock_add_rule, landlock_restrict_self], errno);
  process.execve?.(path, [path, ...rest], process.env);
}

main(process.argv.slice(2));
