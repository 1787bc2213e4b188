import { Socket } from 'node:net';
import { systemClock } from '../../lib/clock.ts';
import { unlinkIn } from '../run-files/unlink-in.ts';
import { giveBackText, startLean } from './lean.ts';
import { openSystemCalls } from '../sandbox/kernel/system-call.ts';
import { GuardLease } from './guard-lease.ts';
import { GUARD_CONTROL_FD, type GuardMessage, type Watched } from './guard-protocol.ts';
import { HeldOutput } from './held-output.ts';
import { endTree } from './tree.ts';

/**
 * A stand-alone program: the guard of a daemon. The end of its connection is the daemon's death, and a lease that is
 * not renewed in time means that the daemon can't act: in both cases it ends the trees of all watched jobs.
 */

const clock = systemClock;
const jobs = new Map<string, Watched>();
const output = new HeldOutput(clock);
const lease = new GuardLease(clock, (graceMs) => void endAll(graceMs));

/** Ends one tree by the given time. A job stays listed until nothing of it is left. */
async function end(job: Watched, graceMs: number, remove = false): Promise<void> {
  const { left } = await endTree({ ...job, leader: job, graceMs, clock });
  if (remove) job.remove.forEach(unlinkIn);
  if (left.length === 0 && jobs.get(job.jobId) === job) jobs.delete(job.jobId);
}

async function endAll(graceMs: number, remove = false): Promise<void> {
  await Promise.all([...jobs.values()].map((job) => end(job, graceMs, remove)));
}

function obey(message: GuardMessage): void {
  if ('renew' in message) return lease.renew(message.renew);
  if ('unwatch' in message) return forget(message.unwatch);
  if ('stop' in message) process.exit(0);
  jobs.set(message.watch.jobId, message.watch);
  output.hold(message.watch);
  // A job of a daemon that has lost its lease may not continue, also when its registration came too late.
  const overdueMs = lease.overdueGraceMs();
  if (overdueMs !== null) void end(message.watch, overdueMs);
}

function forget(jobId: string): void {
  jobs.delete(jobId);
  output.release(jobId);
}

async function daemonDied(): Promise<never> {
  output.drain();
  const graceMs = lease.graceOfDeadMs();
  lease.close();
  await endAll(graceMs, true);
  process.exit(0);
}

function listen(): void {
  const control = new Socket({ fd: GUARD_CONTROL_FD, readable: true, writable: true });
  let line = '';
  control.on('data', (chunk: Buffer) => {
    line += chunk.toString('utf8');
    const lines = line.split('\n');
    line = lines.pop() ?? '';
    for (const each of lines) obey(JSON.parse(each) as GuardMessage);
  });
  control.on('error', () => {});
  control.once('close', () => void daemonDied());
  control.write('ready\n');
}

/** The clock's timers keep no process alive; this does. */
function stayAlive(): void {
  const { port1 } = new MessageChannel();
  port1.on('message', () => {});
}

if (process.platform === 'linux') startLean(openSystemCalls(), GUARD_CONTROL_FD);
stayAlive();
listen();
if (process.platform === 'linux') giveBackText(openSystemCalls());
