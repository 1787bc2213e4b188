/** Prints the ABI of this kernel's Landlock, as the service reads it. */
import { landlockAbi } from '../../../src/runners/sandbox/kernel/landlock.ts';
import { openSystemCalls } from '../../../src/runners/sandbox/kernel/system-call.ts';

console.log(`guest: Landlock ABI ${landlockAbi(openSystemCalls())}`);
