/** For tests: addresses and repositories of somebody who wants more than to be read. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a payload that ran would leave a file. It is taken as a part of a URL and of a command. */
export const MARKER = '/tmp/gatehouse-hostile-marker';

export const HOSTILE_URLS: readonly string[] = [
  // Transports that run a command or read the machine.
  `ext::sh -c touch% ${MARKER}`,
  `ext::touch\u00a0${MARKER}`,
  `ext::${MARKER}`,
  'EXT::x',
  'fd::17',
  'fd::0/x',
  'file:///etc',
  'file://localhost/etc',
  'FILE:///etc',
  'file:/etc',
  '/etc/passwd',
  '/srv/x.git',
  './x',
  '../x',
  'x',
  'bundle.bundle',
  '~/x',
  'git://h/x',
  'http://h/x',
  'HTTP://h/x',
  'ftp://h/x',
  'ftps://h/x',
  'rsync://h/x',
  'svn+ssh://h/x',
  'git+ssh://h/x',
  'ssh+git://h/x',
  'persistent-https://h/x',
  'javascript:x',
  'https::ext::x',
  'transport::address',
  'HTTPS://h/x',
  // Options in the place of hosts, users and paths.
  `-oProxyCommand=touch ${MARKER}`,
  `--upload-pack=touch ${MARKER}`,
  '-u',
  `--upload-pack=touch${MARKER}`,
  `ssh://-oProxyCommand=touch${MARKER}/x`,
  `ssh://-oProxyCommand=touch%20${MARKER}/x`,
  'ssh://-x@h/x',
  'ssh://u@-oProxyCommand=x/x',
  'ssh://h:-1/x',
  'ssh://h:22x/x',
  'u@-oProxyCommand=x:x',
  '-u@h:x',
  'u@h:-x',
  'u@h:--upload-pack=x',
  'https://-h/x',
  // More than a name for who reads it on the other side or on the way.
  'u@h:$(id)',
  'u@h:`id`',
  'u@h:x;id',
  "u@h:x'id'",
  'ssh://u@h/x|id',
  'ssh://u@h/$(id)',
  'https://h/x y',
  'https://h/x\ny',
  'https://h/x\0y',
  'https://h/\u202ex',
  'https://h\r\nHost: i/x',
  ' https://h/x',
  'https://h/x\\y',
  'ssh://h/%2d%2dx',
  'https://h/a/../../b',
  'https://h/x?y',
  'https://h/x#y',
  `https://h/${'x'.repeat(2_000)}`,
  'https://',
  'https:///x',
  'https://h',
  'ssh://',
  'ssh:///x',
  '',
  ' ',
  ':',
  '::',
  'u@h:',
  '@h:x',
  'u@:x',
  'u@h://x',
  // Credentials.
  'https://u:p@h/x',
  'https://u@h/x',
  'https://:p@h/x',
  'ssh://u:p@h/x',
  'https://h:p@i/x',
  'https://u%40h/x',
  // The metadata services of clouds, however they are spelt.
  'https://169.254.169.254/x',
  'https://169.254.169.254:443/x',
  'https://2852039166/x',
  'https://0xa9fea9fe/x',
  'https://0xA9.0xFE.0xA9.0xFE/x',
  'https://0251.0376.0251.0376/x',
  'https://169.16689662/x',
  'https://[::ffff:169.254.169.254]/x',
  'https://[::ffff:a9fe:a9fe]/x',
  'https://[64:ff9b::169.254.169.254]/x',
  'https://[2002:a9fe:a9fe::]/x',
  'https://[fe80::1]/x',
  'https://[fe80::1%25eth0]/x',
  'https://[fd00:ec2::254]/x',
  'https://169.254.0.1/x',
  'https://metadata.google.internal/x',
  'https://METADATA.google.internal/x',
  'ssh://u@169.254.169.254/x',
  'u@169.254.169.254:x',
  'u@[fe80::1]:x',
  'https://0.0.0.0/x',
  'https://[::]/x',
  'https://255.255.255.255/x',
  'https://h:0/x',
  'https://h:99999/x',
  'https://[::1/x',
  'https://h]/x',
];

/** A repository in a directory, made with the real git; `at` may be added to before it is committed. */
export class Repository {
  readonly at: string;

  constructor(at: string) {
    this.at = at;
    mkdirSync(at, { recursive: true });
    this.git('init', '--quiet', '--initial-branch=main', '--template=');
    this.write('main.tf', 'resource "terraform_data" "a" {}\n');
  }

  get url(): string {
    return `file://${this.at}`;
  }

  git(...words: string[]): string {
    return execFileSync('git', words, {
      cwd: this.at,
      env: environment(this.at),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 26,
    }).trim();
  }

  write(path: string, content: string | Buffer): this {
    mkdirSync(join(this.at, path, '..'), { recursive: true });
    writeFileSync(join(this.at, path), content);
    return this;
  }

  link(path: string, target: string): this {
    symlinkSync(target, join(this.at, path));
    return this;
  }

  commit(): string {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'x');
    return this.git('rev-parse', 'HEAD');
  }

  withCommit(): this {
    this.commit();
    return this;
  }

  /** Puts objects together that no ordinary git would make, and commits them. */
  commitTree(entries: readonly (readonly [mode: string, path: string, object: string])[]): string {
    const tree = this.tree(entries);
    const commit = this.git('commit-tree', tree, '-m', 'x');
    this.git('update-ref', 'refs/heads/main', commit);
    return commit;
  }

  /** The object of a tree, written byte by byte: nothing checks its names. */
  tree(entries: readonly (readonly [mode: string, path: string, object: string])[]): string {
    return this.#object(
      'tree',
      Buffer.concat(
        entries.map(([mode, path, object]) =>
          Buffer.concat([Buffer.from(`${mode} ${path}\0`), Buffer.from(object, 'hex')]),
        ),
      ),
    );
  }

  blob(content: string | Buffer): string {
    return this.#object('blob', Buffer.from(content));
  }

  #object(type: string, content: Buffer): string {
    const made = spawnSync('git', ['hash-object', '-t', type, '--literally', '-w', '--stdin'], {
      cwd: this.at,
      env: environment(this.at),
      input: content,
    });
    if (made.status !== 0) throw new Error(made.stderr.toString());
    return made.stdout.toString().trim();
  }
}

function environment(home: string): Record<string, string> {
  const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
  return {
    ...who,
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    LC_ALL: 'C.UTF-8',
  };
}
