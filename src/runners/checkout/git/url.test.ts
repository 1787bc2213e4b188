import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Failure } from '../../../domain/failure.ts';
import { checkGitRef, checkGitUrl } from './url.ts';
import { HOSTILE_URLS } from '../../../../test/support/attacks/hostile-repositories.ts';

function messageOf(url: string): string {
  try {
    checkGitUrl(url);
  } catch (error) {
    return String(error);
  }
  return '';
}

const isRefusal = (error: unknown): boolean => error instanceof Failure && error.code === 'invalid_argument';

describe('the URL of a git source', () => {
  it('is https, ssh, or the short form of ssh', () => {
    for (const url of [
      'https://git.example.org/ops/infra.git',
      'https://git.example.org:8443/ops/infra',
      'https://192.168.1.4/x.git',
      'https://[fd12::1]/x.git',
      'https://127.0.0.1/x',
      'ssh://git@git.example.org/ops/infra.git',
      'ssh://git.example.org/~ana/infra',
      'ssh://git@git.example.org:2222/x',
      'ssh://git@[::1]:22/x',
      'ssh://git@localhost/srv/x',
      'git@git.example.org:ops/infra.git',
      'git@git.example.org:/srv/infra.git',
      'git@alias_1:infra',
      'git@[fd12::1]:x',
      'ana@10.0.0.1:~/infra',
    ]) {
      assert.doesNotThrow(() => checkGitUrl(url), url);
    }
  });

  it('T22: is not one of 60 that make git run something, read files, or ask who must not be asked', () => {
    assert.ok(new Set(HOSTILE_URLS).size >= 60, String(new Set(HOSTILE_URLS).size));
    for (const url of HOSTILE_URLS) assert.throws(() => checkGitUrl(url), isRefusal, JSON.stringify(url));
  });

  it(
    'T22: names no address of a metadata service or of no server, in any spelling, and may name loopback and ' +
      'private ones',
    () => {
      for (const host of [
        '169.254.169.254',
        '0xa9fea9fe',
        '100.100.100.200',
        '168.63.129.16',
        '[::ffff:169.254.169.254]',
        '[64:ff9b::a9fe:a9fe]',
        '[2002:a9fe:a9fe::]',
        '[fd00:ec2::254]',
        '[fe80::1]',
        '0.0.0.0',
        '255.255.255.255',
        '224.0.0.1',
        '240.0.0.1',
        '[ff02::1]',
        '[::]',
        '[::ffff:0.0.0.0]',
      ]) {
        assert.throws(() => checkGitUrl(`https://${host}/x`), isRefusal, host);
      }
      for (const host of [
        '127.0.0.1',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '10.1.2.3',
        '[fd12::1]',
        '100.64.0.1',
        '8.8.8.8',
        '[2606:4700::1111]',
        '[64:ff9b::8.8.8.8]',
      ]) {
        assert.doesNotThrow(() => checkGitUrl(`https://${host}/x`), host);
      }
    },
  );

  it('T22: names no known metadata service, in any case and with a dot at its end or not', () => {
    for (const host of [
      'metadata',
      'metadata.goog',
      'METADATA.Goog',
      'metadata.goog.',
      'metadata.google.internal',
      'metadata.google.internal.',
      'metadata.azure.internal',
      'metadata.tencentyun.com',
      'api.metadata.cloud.ibm.com',
      'instance-data',
      'instance-data.ec2.internal',
      'instance-data.eu-west-1.compute.internal',
    ])
      for (const url of [`https://${host}/x`, `https://${host}:8443/x`, `ssh://git@${host}/x`, `git@${host}:x`])
        assert.throws(() => checkGitUrl(url), isRefusal, url);
    for (const host of ['metadata.example.org', 'git.metadata.goog.example.org', 'my-metadata', 'goog'])
      assert.doesNotThrow(() => checkGitUrl(`https://${host}/x`), host);
  });

  it('is not repeated by its refusal: it may hold a password', () => {
    for (const url of [
      'https://ana:canary@git.example.org/x',
      'https://canary@git.example.org/x',
      'http://ana:canary@h/x',
      'ssh://ana:canary@h/x',
    ]) {
      assert.match(messageOf(url), /git: /);
      assert.doesNotMatch(messageOf(url), /canary/, url);
    }
  });
});

describe('the ref of a git source', () => {
  it('is a branch, a tag or a commit', () => {
    for (const ref of [
      'main',
      'v1.2.3',
      'feature/x_y-1',
      'refs/heads/main',
      'HEAD',
      'a'.repeat(40),
      '1.0+build',
      'user@host',
    ]) {
      assert.doesNotThrow(() => checkGitRef(ref), ref);
    }
  });

  it('T14: is no option, no pattern, no refspec and no expression', () => {
    for (const ref of [
      '',
      '-',
      '--',
      '--orphan',
      '--upload-pack=touch x',
      '-c',
      '--help',
      '-x main',
      '+main',
      'main:refs/heads/x',
      'a:b',
      '^main',
      'main^',
      'main~1',
      'main^{tree}',
      '@{-1}',
      'main@{1}',
      'refs/heads/*',
      'a..b',
      '../x',
      'a/../b',
      '/main',
      'main/',
      'a//b',
      '.x',
      'a/.x',
      'x.lock',
      'a.lock/b',
      'x.',
      'a b',
      'a\tb',
      'a\nb',
      'a\0b',
      'a\\b',
      '[a]',
      'a?',
      '$(id)',
      '`id`',
      'a;b',
      'a|b',
      'a&b',
      "a'b",
      'a"b',
      'ä',
      '\u202emain',
      'a'.repeat(201),
      'refs/heads/',
      ':',
      'HEAD:',
      ' main',
      'main ',
      '%2d-x',
    ]) {
      assert.throws(() => checkGitRef(ref), isRefusal, JSON.stringify(ref));
    }
  });
});
