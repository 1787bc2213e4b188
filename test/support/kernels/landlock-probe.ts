/** Ends with 0 where the kernel has the Landlock that sandboxed jobs need, and lets this process ask for it. */
import { LANDLOCK_ABI_OF_PORTS, landlockAbi } from '../../../src/runners/sandbox/kernel/landlock.ts';
import { openSystemCalls } from '../../../src/runners/sandbox/kernel/system-call.ts';

process.exitCode = landlockAbi(openSystemCalls()) >= LANDLOCK_ABI_OF_PORTS ? 0 : 1;
