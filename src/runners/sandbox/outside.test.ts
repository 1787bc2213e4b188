import assert from 'node:assert/strict';
import { fstatSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { SYSTEM_FOLDERS } from '../../domain/jobs/writable.ts';
import { openOutside } from './outside.ts';

function refusal(path: string, kept: readonly string[] = []): string {
  try {
    openOutside({ paths: [path], kept }).close();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return '';
}

describe('A directory that an order makes writable', () => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'gatehouse-outside-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  function made(...parts: string[]): string {
    const path = join(root, ...parts);
    mkdirSync(path, { recursive: true });
    return path;
  }

  test('A writable directory is opened by its own descriptor, whatever takes its name later', () => {
    const path = made('cache');
    const { ino } = statSync(path);
    const { fds, close } = openOutside({ paths: [path], kept: [] });
    renameSync(path, join(root, 'moved'));
    made('cache');
    assert.equal(fstatSync(fds[0] ?? -1).ino, ino);
    close();
  });

  test('No path is writable that is, lies in or holds a directory of the system', () => {
    for (const folder of SYSTEM_FOLDERS)
      assert.match(refusal(folder), /never|no job may write|link|does not exist/, folder);
    for (const path of ['/', '//', '/usr/local', '/etc/ssl', '/var', '/var/lib', '/proc/self', '/dev/shm'])
      assert.match(refusal(path), /^writable: ".*": .*(never writable|no job may write)/, path);
  });

  test('No path is writable that has a link, a part .., or no directory at its end', () => {
    const target = made('real', 'data');
    symlinkSync(target, join(root, 'link'));
    symlinkSync(join(root, 'real'), join(root, 'above'));
    writeFileSync(join(root, 'file'), '');
    assert.match(refusal(join(root, 'link')), /is a symbolic link or no directory/);
    assert.match(refusal(join(root, 'above', 'data')), /above is a symbolic link or no directory/);
    assert.match(refusal(join(root, 'file')), /is a symbolic link or no directory/);
    assert.match(refusal(join(root, 'gone')), /gone does not exist/);
    for (const path of [`${target}/../data`, `${target}/./`, `${root}//real`, 'srv', '', '/srv/a\nb'])
      assert.match(refusal(path), /expected (?:an|the) absolute path/, path);
    assert.equal(refusal(`${target}/`), '');
  });

  test('No path is writable that holds or lies in a directory of the service, or an SSH key directory', () => {
    const data = made('service', 'data');
    made('service', 'data', 'runs');
    const key = join(root, 'keys', 'seal.key');
    made('keys');
    made('home', 'ana', '.ssh');
    assert.match(refusal(join(data, 'runs'), [data]), /it is or lies in .*data, which no job may write/);
    assert.match(refusal(join(root, 'service'), [data]), /it holds .*data, which no job may write/);
    assert.match(refusal(join(root, 'keys'), [key]), /it holds .*seal\.key/, 'also before the file exists');
    assert.match(refusal(join(root, 'home', 'ana', '.ssh')), /lies in a directory \.ssh/);
    assert.match(refusal(join(root, 'home', 'ana')), /it holds .*ana\/\.ssh/);
    assert.match(refusal(join(root, 'home')), /it holds .*home\/ana\/\.ssh/);
  });
});
