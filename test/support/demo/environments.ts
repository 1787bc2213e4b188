/**
 * The machines that the demo is tried on: how each is made of the machine at hand. Properties that have nothing to do
 * with each other share a machine, since a demo takes half a minute.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { NO_ROOT } from '../accounts/job-account.ts';
import { find, needs, TERRAFORM, type ToolName } from '../tools.ts';
import { copyClone } from './clone.ts';
import { demoOf, type Place, ROOT } from './run.ts';

type Story = 'sandboxed' | 'privileged' | 'no space';

export interface Environment {
  /** The end of a sentence. */
  readonly name: string;
  readonly story: Story;
  readonly skip: string | false;
  /** The words that start the demo there; makes what they need. */
  readonly words: (place: Place, t: TestContext) => string[];
  readonly env?: (place: Place) => Readonly<Record<string, string | undefined>>;
}

const FILTER = join(import.meta.dirname, '..', 'faults', 'without-landlock.ts');
const WITHOUT_LANDLOCK = [process.execPath, '--disable-warning=ExperimentalWarning', FILTER];
/** The account of a person: without it the tests themselves run as one. */
const ORDINARY = NO_ROOT === false ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
/** What the engines of containers leave to root. */
const CAPABILITIES_OF_CONTAINER =
  'chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,sys_chroot,setfcap';
const IN_CONTAINER = [
  'setpriv',
  `--bounding-set=-all,${CAPABILITIES_OF_CONTAINER.replaceAll(/(^|,)/g, '$1+')}`,
  '--inh-caps=-all',
];

const root = (...tools: readonly ToolName[]): string | false => NO_ROOT || needs(TERRAFORM, ...tools);

const tofu = needs(TERRAFORM);

/** A script with the demo as its arguments. */
const script = (text: string): string[] => ['sh', '-ec', `${text}; exec "$@"`, 'sh'];
const withMounts = (text: string): string[] => ['unshare', '-m', ...script(text)];

export const ENVIRONMENTS: readonly Environment[] = [
  { name: 'on this machine', story: 'sandboxed', skip: tofu, words: () => demoOf() },
  {
    name: 'without Landlock, with privileged jobs',
    story: 'privileged',
    skip: false,
    words: () => [...WITHOUT_LANDLOCK, ...demoOf()],
  },
  {
    name: 'with the capabilities and the errors of an older container, with privileged jobs',
    story: 'privileged',
    skip: NO_ROOT,
    words: () => [...WITHOUT_LANDLOCK, '--errno', 'EPERM', ...IN_CONTAINER, ...demoOf()],
  },
  {
    name: 'without Landlock as an ordinary account, with privileged jobs',
    story: 'privileged',
    skip: false,
    words: ({ folder }) => [...WITHOUT_LANDLOCK, ...ORDINARY, ...copiedDemo(join(folder, 'clone'))],
  },
  {
    name: 'as an ordinary account',
    story: 'sandboxed',
    skip: tofu,
    words: ({ folder }) => [...ORDINARY, ...copiedDemo(join(folder, 'clone'))],
  },
  {
    name: 'with the capabilities that a container leaves to root',
    story: 'sandboxed',
    skip: root(),
    words: () => [...IN_CONTAINER, ...demoOf()],
  },
  {
    name: 'with a read-only home, without IPv6 and where /dev/shm cannot be used',
    story: 'sandboxed',
    skip: root('mount namespaces', 'network namespaces'),
    words: () => [
      'unshare',
      '-m',
      '-n',
      ...script(
        'mount -t tmpfs -o ro none "$HOME"; mount -t tmpfs -o ro,mode=0000 none /dev/shm; ' +
          'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; ip link set lo up',
      ),
      ...demoOf(),
    ],
  },
  {
    name: 'where HOME is unset, with the umask 0077',
    story: 'sandboxed',
    skip: tofu,
    words: () => [...script('umask 0077'), 'npm', '--prefix', ROOT, 'run', 'demo'],
    env: () => ({ HOME: undefined }),
  },
  {
    name: 'in a path with blanks and an umlaut',
    story: 'sandboxed',
    skip: tofu,
    words: ({ folder }) => {
      const clone = join(folder, 'für  alle', 'Gate house');
      copyClone(clone);
      return ['npm', '--prefix', clone, 'run', 'demo'];
    },
  },
  {
    name: 'in a clone and with tools that other accounts cannot reach',
    story: 'sandboxed',
    skip: tofu,
    words: ({ folder }) => {
      const closed = join(folder, 'closed');
      mkdirSync(join(closed, 'bin'), { recursive: true, mode: 0o700 });
      for (const name of ['terraform', 'tofu']) {
        const program = find(name);
        if (program !== null) copyFileSync(program, join(closed, 'bin', name));
      }
      return copiedDemo(join(closed, 'clone'));
    },
    env: ({ folder }) => ({ PATH: `${join(folder, 'closed', 'bin')}:${process.env['PATH']}` }),
  },
  {
    name: 'without a terminal, in the time zone of Kiritimati and the locale C, with the ports 8420 and 8421 in use',
    story: 'sandboxed',
    skip: tofu,
    words: (_place, t) => {
      for (const port of [8420, 8421]) {
        // Where another program has the port, it is in use as well.
        const server = createServer().on('error', () => undefined);
        t.after(() => server.close());
        server.listen(port, '127.0.0.1');
      }
      return ['setsid', '--wait', ...script('umask 0002'), ...demoOf()];
    },
    env: () => ({ TERM: undefined, NO_COLOR: '1', TZ: 'Pacific/Kiritimati', LANG: 'C', LC_ALL: 'C' }),
  },
  {
    name: 'up to one sentence where the temporary directory is full',
    story: 'no space',
    skip: NO_ROOT || needs('mount namespaces'),
    words: () => [
      ...withMounts(
        'mount -t tmpfs -o size=64k,mode=1777 none "$TMPDIR"; head -c 1M /dev/zero >"$TMPDIR/fill" 2>/dev/null || true',
      ),
      ...demoOf(),
    ],
  },
];

function copiedDemo(clone: string): string[] {
  copyClone(clone);
  return demoOf(clone);
}
