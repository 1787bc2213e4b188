/** The file system of the guest, an initramfs: this checkout, its Node, and the programs that the tests start. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  globSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { find } from '../../support/tools.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const INIT = join(import.meta.dirname, 'init');
/** The parts of the checkout that the tests need, besides the runtime dependencies. */
const PROJECT = ['src', 'migrations', 'test', 'scripts', 'package.json'];

const PROGRAMS = `bash busybox cat cp df env false getent git grep head id ln ls mkdir mknod mv perl readlink rm sed sh
  sleep ssh stat tail terraform tofu touch tr true truncate uname wc`.split(/\s+/);
/** Modules of perl, and the programs that git starts. Only those that this machine has are taken. */
const FOLDERS = ['/usr/lib/*/perl-base/**', '/usr/lib/git-core/git', '/usr/lib/git-core/git-{remote-http*,sh-*}'];
const DIRECTORIES = 'dev etc home proc root run sys tmp usr var var/lib var/tmp'.split(' ');
/** On a system that has merged them. */
const MERGED = ['bin', 'sbin', 'lib', 'lib64'];
const FILES: Readonly<Record<string, string>> = {
  'etc/passwd':
    'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n' +
    'gatehouse-job:x:999:999::/nonexistent:/usr/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnogroup:x:65534:\ngatehouse-job:x:999:\n',
  'etc/hosts': '127.0.0.1 localhost\n',
  'etc/hostname': 'guest\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};
/** An archive of 400 MB takes some seconds. */
const OUTPUT_BYTES_MAX = 2 ** 20 * 64;

/** Writes the archive to `into`, in the form that the kernel unpacks. `scratch` is an empty folder. */
export function writeImage(into: string, scratch: string): void {
  for (const directory of DIRECTORIES) mkdirSync(join(scratch, directory), { recursive: true });
  for (const name of MERGED) symlinkSync(`usr/${name}`, join(scratch, name));
  for (const [file, text] of Object.entries(FILES)) writeFileSync(join(scratch, file), text);
  chmodSync(join(scratch, 'tmp'), 0o1777);
  copyFileSync(INIT, join(scratch, 'init'));
  const own = globSync('**', { cwd: scratch });
  // The kernel unpacks archives that follow each other into one tree.
  writeFileSync(into, archive('/', withFolders(filesOfHost())));
  writeFileSync(into, archive(scratch, own), { flag: 'a' });
}

function archive(root: string, paths: readonly string[]): Buffer {
  const words = ['-o', '-H', 'newc', '--quiet', '-R', '+0:+0', '-D', root];
  const { stdout, status, stderr } = spawnSync('cpio', words, { input: `${paths.join('\n')}\n`, maxBuffer: 2 ** 31 });
  if (status !== 0) throw new Error(`cpio failed: ${stderr?.toString() ?? 'it cannot be started'}`);
  return stdout;
}

/** Absolute paths. Each link is followed, and the archive has the link and its end. */
function filesOfHost(): Set<string> {
  const paths = new Set<string>();
  const programs = PROGRAMS.flatMap((name) => find(name) ?? []);
  const others = globSync(FOLDERS).filter((path) => !lstatSync(path).isDirectory());
  for (const path of [process.execPath, ...programs, ...others]) {
    addWithLinks(paths, path);
    if (path.endsWith('.pm') || path.endsWith('.pl')) continue;
    for (const library of librariesOf(path)) addWithLinks(paths, library);
  }
  const modules = lines('npm', ['ls', '--omit=dev', '--all', '--parseable']).filter((path) => path !== ROOT);
  for (const top of [...PROJECT.map((name) => join(ROOT, name)), ...modules]) {
    const inside = globSync(`${top}/**`).filter((path) => !lstatSync(path).isDirectory());
    for (const path of lstatSync(top).isDirectory() ? inside : [top]) paths.add(path);
  }
  return paths;
}

function addWithLinks(paths: Set<string>, path: string): void {
  const place = join(realpathSync(dirname(path)), path.slice(dirname(path).length));
  paths.add(place);
  if (lstatSync(place).isSymbolicLink()) addWithLinks(paths, resolve(dirname(place), readlinkSync(place)));
}

/** Empty for a script and for a program that is linked statically. */
function librariesOf(program: string): string[] {
  return lines('ldd', [program]).flatMap((line) => /(?:=> |^\s*)(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}

function lines(program: string, args: readonly string[]): string[] {
  const { stdout } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX });
  return (stdout ?? '').split('\n').filter(Boolean);
}

/** Relative to the root, each folder before what is in it. */
function withFolders(paths: ReadonlySet<string>): string[] {
  const all = new Set<string>();
  for (const path of paths) for (let at = path; at !== '/'; at = dirname(at)) all.add(at.slice(1));
  return [...all].toSorted();
}
