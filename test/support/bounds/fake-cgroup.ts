import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { GroupPlace } from '../../../src/runners/bounds/delegated-group.ts';

const OWN_PATH = '/system.slice/gatehouse.service';

/** A folder with the files of control groups, for machines that delegate none. Nothing in it has an effect. */
export interface FakeCgroup {
  readonly place: GroupPlace;
  /** The group of this process. */
  readonly group: string;
  read(path: string): string;
  write(path: string, text: string): void;
  exists(path: string): boolean;
  /** As the kernel removes a group: not while it has processes. */
  removeGroup(path: string): void;
}

export function fakeCgroup(t: Pick<TestContext, 'after'>, ownPath = OWN_PATH): FakeCgroup {
  const mount = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-cgroup-')));
  t.after(() => rmSync(mount, { recursive: true }));
  const group = join(mount, ownPath);
  mkdirSync(group, { recursive: true });
  const at = (path: string): string => join(group, path);
  const fake: FakeCgroup = {
    place: { mount, ownGroupFile: join(mount, 'own'), isMarked: () => true },
    group,
    read: (path) => readFileSync(at(path), 'utf8'),
    write: (path, text) => writeFileSync(at(path), text),
    exists: (path) => existsSync(at(path)),
    removeGroup(path) {
      const events = join(path, 'cgroup.events');
      if (existsSync(events) && readFileSync(events, 'utf8').includes('populated 1'))
        throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      rmSync(path, { recursive: true });
    },
  };
  writeFileSync(join(mount, 'own'), `3:cpu:/\n0::${ownPath}\n`);
  fake.write('cgroup.controllers', 'cpuset cpu io memory pids\n');
  for (const file of ['cgroup.kill', 'cgroup.procs', 'cgroup.subtree_control']) fake.write(file, '');
  return fake;
}
