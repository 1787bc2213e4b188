import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type FakeCgroup, fakeCgroup } from '../../../test/support/bounds/fake-cgroup.ts';
import { type GroupPlace, NoDelegatedGroup, takeDelegatedGroup } from './delegated-group.ts';

interface Refusal {
  readonly title: string;
  readonly change: (fake: FakeCgroup) => Partial<GroupPlace> | void;
  readonly message: RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    title: 'a system without control groups of version 2',
    change: ({ place }) => writeFileSync(place.ownGroupFile, '4:memory:/\n'),
    message: /^this system has no control groups of version 2$/,
  },
  {
    title: 'a group without one of the controllers',
    change: (fake) => fake.write('cgroup.controllers', 'cpu pids\n'),
    message: /has no controller for memory$/,
  },
  {
    title: 'a path that is not mounted here',
    change: ({ place }) => writeFileSync(place.ownGroupFile, '0::/elsewhere\n'),
    message: /has no controller for memory and pids$/,
  },
  {
    title: 'the root of the machine, or a kernel that cannot end a group',
    change: ({ group }) => rmSync(join(group, 'cgroup.kill')),
    message: /cannot be ended as a whole/,
  },
  {
    title: 'a group that the service manager did not delegate',
    change: () => ({ isMarked: () => false }),
    message: /is not delegated to the service$/,
  },
  {
    title: 'a group whose files are not writable',
    change: ({ group }) => rmSync(join(group, 'cgroup.subtree_control')),
    message: /is not delegated to the service$/,
  },
];

describe('the delegated control group', () => {
  it('is divided: the daemon moves into a separate group, and controllers are enabled for the others', (t) => {
    const fake = fakeCgroup(t);
    assert.equal(takeDelegatedGroup(fake.place), fake.group);
    assert.equal(fake.read('daemon/cgroup.procs'), String(process.pid));
    assert.equal(fake.read('cgroup.subtree_control'), '+memory +pids +cpu');
  });

  it('is used without a controller of processors', (t) => {
    const fake = fakeCgroup(t);
    fake.write('cgroup.controllers', 'memory pids\n');
    takeDelegatedGroup(fake.place);
    assert.equal(fake.read('cgroup.subtree_control'), '+memory +pids');
  });

  it('is the one above the group in which the service manager started the daemon', (t) => {
    const fake = fakeCgroup(t);
    writeFileSync(fake.place.ownGroupFile, '0::/system.slice/gatehouse.service/daemon\n');
    assert.equal(takeDelegatedGroup(fake.place), fake.group);
  });

  it('is the root of a container, which has no mark', (t) => {
    const fake = fakeCgroup(t, '/');
    assert.equal(takeDelegatedGroup({ ...fake.place, isMarked: () => false }), join(fake.place.mount, '/'));
  });

  for (const { title, change, message } of REFUSALS) {
    it(`is not ${title}, and nothing is changed then`, (t: TestContext) => {
      const fake = fakeCgroup(t);
      const place = { ...fake.place, ...change(fake) };
      assert.throws(
        () => takeDelegatedGroup(place),
        (error: unknown) => error instanceof NoDelegatedGroup && message.test(error.message),
      );
      assert.equal(fake.exists('daemon'), false);
    });
  }

  it('is left as it was where the kernel refuses to enable the controllers', (t) => {
    const fake = fakeCgroup(t);
    rmSync(join(fake.group, 'cgroup.subtree_control'));
    mkdirSync(join(fake.group, 'cgroup.subtree_control'));
    assert.throws(() => takeDelegatedGroup(fake.place), /cannot be divided: EISDIR$/);
    assert.equal(fake.read('cgroup.procs'), String(process.pid));
  });
});
