import assert from 'node:assert/strict';
import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type FakeCgroup, fakeCgroup } from '../../../test/support/bounds/fake-cgroup.ts';
import { jobIdPart } from '../../domain/path-part.ts';
import { systemClock } from '../../lib/clock.ts';
import { CgroupBounds } from './cgroup.ts';

const JOB = jobIdPart('job_00000000000000000000000001');
const GROUP = `job-${JOB}`;
const LIMITS = { memoryBytes: 2 ** 31, processes: 64 };

function bounded(t: TestContext): { fake: FakeCgroup; bounds: CgroupBounds } {
  const fake = fakeCgroup(t);
  return { fake, bounds: new CgroupBounds(fake.group, LIMITS, systemClock, (path) => fake.removeGroup(path)) };
}

/** What the kernel does with a group that is ended: its processes end, a moment later. */
function endOnKill(t: TestContext, fake: FakeCgroup, name: string): void {
  const watcher = watch(join(fake.group, name), (_, file) => {
    if (file === 'cgroup.kill' && fake.exists(name)) fake.write(`${name}/cgroup.events`, 'populated 0\nfrozen 0\n');
  });
  t.after(() => watcher.close());
}

describe('the control group of a job', () => {
  it('has the limits before a process joins it', (t) => {
    const { fake, bounds } = bounded(t);
    const { order, members } = bounds.open(JOB);
    assert.equal(order.group, join(fake.group, GROUP, 'cgroup.procs'));
    assert.equal(fake.read(`${GROUP}/pids.max`), '64');
    assert.equal(fake.read(`${GROUP}/memory.max`), '2147483648');
    assert.equal(fake.read(`${GROUP}/memory.swap.max`), '0');
    assert.equal(fake.read(`${GROUP}/memory.oom.group`), '1');
    fake.write(`${GROUP}/cgroup.procs`, '12\n345\n');
    assert.deepEqual(members?.pids(), [12, 345]);
    members?.kill();
    assert.equal(fake.read(`${GROUP}/cgroup.kill`), '1');
  });

  it('is removed with the job, and says nothing where no limit was reached', async (t) => {
    const { fake, bounds } = bounded(t);
    const program = bounds.open(JOB);
    fake.write(`${GROUP}/memory.events`, 'low 0\nhigh 0\nmax 3\noom 0\noom_kill 0\noom_group_kill 0\n');
    fake.write(`${GROUP}/pids.events`, 'max 0\n');
    assert.deepEqual(await program.end(), []);
    assert.equal(fake.exists(GROUP), false);
    assert.deepEqual(bounds.leftovers(), []);
  });

  it('ends what is left in it as a whole, and waits until it is empty', async (t) => {
    const { fake, bounds } = bounded(t);
    const program = bounds.open(JOB);
    fake.write(`${GROUP}/cgroup.events`, 'populated 1\nfrozen 0\n');
    endOnKill(t, fake, GROUP);
    await program.end();
    assert.equal(fake.exists(GROUP), false);
  });

  it('T78: says which limit was reached', async (t) => {
    const { fake, bounds } = bounded(t);
    const program = bounds.open(JOB);
    fake.write(`${GROUP}/memory.events`, 'low 0\nhigh 0\nmax 9\noom 1\noom_kill 4\noom_group_kill 1\n');
    fake.write(`${GROUP}/pids.events`, 'max 17\n');
    assert.deepEqual(await program.end(), [
      'The job reached its limit of 64 processes and threads (17 refused).',
      'The job used more than 2 GiB of memory and was ended.',
    ]);
  });

  it('tells the end of a job for the memory of the machine from one for its own', async (t) => {
    const { fake, bounds } = bounded(t);
    const program = bounds.open(JOB);
    fake.write(`${GROUP}/memory.events`, 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n');
    assert.deepEqual(await program.end(), [
      'The machine ran out of memory, and the kernel ended processes of the job.',
    ]);
  });

  it('is not joined again while processes of an earlier program are in it', (t) => {
    const { bounds } = bounded(t);
    bounds.open(JOB);
    assert.throws(() => bounds.open(JOB), /processes of an earlier program of the job are still in it\.$/);
  });

  it('of a dead daemon is found, ended and removed; other groups are left alone', async (t) => {
    const { fake, bounds } = bounded(t);
    for (const name of ['daemon', GROUP, 'of-a-neighbour']) mkdirSync(join(fake.group, name));
    fake.write(`${GROUP}/cgroup.events`, 'populated 1\n');
    endOnKill(t, fake, GROUP);
    assert.deepEqual(bounds.leftovers(), [JOB]);
    await bounds.remove(JOB);
    await bounds.remove(jobIdPart('job_00000000000000000000000002'));
    assert.deepEqual([fake.exists(GROUP), fake.exists('daemon'), fake.exists('of-a-neighbour')], [false, true, true]);
    assert.throws(() => jobIdPart('../of-a-neighbour'), /the id of this job is malformed/);
  });
});
