import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '../../test/support/notify/push-authority.ts';
import { needs } from '../../test/support/tools.ts';
import { readCheckCa } from './ca-file.ts';

async function messageOf(file: string): Promise<string> {
  const failure: unknown = await readCheckCa(file).catch((error: unknown) => error);
  return failure instanceof Error ? failure.message : '';
}

test(
  'A file of --check-ca-file has certificates, and no block that is not one',
  { skip: needs('openssl') },
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-ca-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const authority = createAuthority(t);
    const path = join(dir, 'ca.pem');
    const write = (text: string | Buffer): void => writeFileSync(path, text);
    assert.deepEqual(await readCheckCa(null), []);
    assert.deepEqual(await readCheckCa(authority.caFile), [readFileSync(authority.caFile, 'utf8').trim()]);
    write(`# the root\n${authority.ca.toString()}`);
    appendFileSync(path, createAuthority(t).ca);
    assert.equal((await readCheckCa(path)).length, 2);
    const form = 'is not a file of certificates; expected PEM, one or several BEGIN CERTIFICATE blocks.';
    for (const text of [
      '',
      'x',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      authority.certificate(['a.test']).key,
      Buffer.concat([authority.ca, Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')]),
    ]) {
      write(text);
      assert.equal(await messageOf(path), `--check-ca-file: ${path} ${form}`);
    }
    write(Buffer.alloc(1_048_577));
    assert.equal(await messageOf(path), `--check-ca-file: ${path} is longer than 1 MiB.`);
    assert.equal(await messageOf(dir), `--check-ca-file: ${dir} is not a file.`);
    assert.equal(await messageOf(join(dir, 'none')), `--check-ca-file: ${join(dir, 'none')} cannot be read (ENOENT).`);
  },
);

test(
  'T86: a file of --check-ca-file is not read through a link that others may exchange',
  { skip: needs('Linux') },
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-ca-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const path = join(dir, 'ca.pem');
    symlinkSync('root.pem', path);
    writeFileSync(join(dir, 'root.pem'), 'x');
    assert.match(await messageOf(path), /is not a file of certificates/);
    chmodSync(dir, 0o777);
    const why = 'leads through a symbolic link that another account made or may exchange';
    assert.equal(await messageOf(path), `--check-ca-file: ${path} ${why}.`);
  },
);
