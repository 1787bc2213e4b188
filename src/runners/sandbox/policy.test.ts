import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathsThatExpose, SYSTEM_PATHS } from './policy.ts';

describe('the paths of a policy', () => {
  const none = { readable: [], writable: [] };

  it('expose a data directory that lies below a path that every job may read', () => {
    assert.deepEqual(pathsThatExpose('/usr/local/var/gatehouse', none), ['/usr']);
    assert.deepEqual(pathsThatExpose('/etc', none), ['/etc']);
  });

  it('expose a data directory below a path of the job itself', () => {
    assert.deepEqual(pathsThatExpose('/srv/data', { readable: ['/srv'], writable: ['/'] }), ['/srv', '/']);
  });

  it('do not expose a neighbour whose name only begins alike, nor by a directory inside it', () => {
    assert.deepEqual(pathsThatExpose('/usr2/data', none), []);
    assert.deepEqual(pathsThatExpose('/srv/data', { readable: ['/srv/da'], writable: ['/srv/data/runs/job_1'] }), []);
  });

  it('name nothing twice for different access, and no home and no temporary directory', () => {
    const paths = SYSTEM_PATHS.map((row) => row.path);
    assert.equal(new Set(paths).size, paths.length);
    for (const path of ['/', '/root', '/home', '/tmp', '/var', '/run', '/dev', '/dev/shm'])
      assert.ok(!paths.includes(path), path);
  });
});
