/** A real OpenSSH server on the loopback address, with its own configuration and keys. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fingerprint, readHostKey } from '../../../src/domain/inventories/host-key.ts';
import { freePort } from '../network/free-port.ts';
import { SSHD } from '../tools.ts';

const STARTS_WITHIN_MS = 60_000;
/** Where sshd of root wants an empty folder. */
const SEPARATION = '/run/sshd';

export interface SshServer {
  readonly port: number;
  /** The account that it lets in: the one of the test. */
  readonly user: string;
  /** A private key that it accepts. */
  readonly privateKey: string;
  /** The file of the keys that it lets in. */
  readonly authorizedKeys: string;
  /** Of its only host key. */
  readonly fingerprint: string;
  /** It continues at the same port with another host key. */
  changeHostKey(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one. `settings` are further lines of its configuration. */
export async function startSshServer(settings: readonly string[] = []): Promise<SshServer> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-sshd-'));
  chmodSync(dir, 0o711);
  if (process.getuid?.() === 0) mkdirSync(SEPARATION, { recursive: true, mode: 0o755 });
  makeKey(join(dir, 'user'));
  makeKey(join(dir, 'host-0'));
  writeFileSync(join(dir, 'authorized_keys'), readFileSync(join(dir, 'user.pub')), { mode: 0o644 });
  const port = await freePort();
  let [key, child] = [join(dir, 'host-0'), await run(dir, port, join(dir, 'host-0'), settings)];
  const server = {
    port,
    user: userInfo().username,
    privateKey: readFileSync(join(dir, 'user'), 'utf8'),
    authorizedKeys: join(dir, 'authorized_keys'),
    get fingerprint() {
      const [type = '', text = ''] = readFileSync(`${key}.pub`, 'utf8').split(' ');
      const read = readHostKey(`${type} ${text}`);
      if (read === null) throw new Error('ssh-keygen made a key of another form');
      return fingerprint(read);
    },
    async changeHostKey() {
      await end(child);
      key = join(dir, 'host-1');
      makeKey(key);
      child = await run(dir, port, key, settings);
    },
    async stop() {
      await end(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return server;
}

function makeKey(file: string): void {
  const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', file]);
  if (made.status !== 0) throw new Error(`ssh-keygen failed: ${made.stderr.toString()}`);
}

async function run(dir: string, port: number, key: string, settings: readonly string[]): Promise<ChildProcess> {
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${key}`,
    'PidFile none',
    `AuthorizedKeysFile ${join(dir, 'authorized_keys')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin yes',
    'PrintMotd no',
    // A test connects to it as 50 hosts at once.
    'MaxStartups 500:100:1000',
    // As for a shell in a shell: bash leaves out the .bashrc of the person who runs the tests, which may take a second.
    'SetEnv SHLVL=1',
    'LogLevel ERROR',
    ...settings,
  ];
  writeFileSync(join(dir, 'config'), `${lines.join('\n')}\n`);
  const child = spawn(SSHD, ['-D', '-e', '-f', join(dir, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const until = Date.now() + STARTS_WITHIN_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`sshd does not start: ${complaint}`);
    await pause(20);
  }
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Whether a server sends the first line of its protocol. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (ok: boolean): void => {
      socket.destroy();
      resolve(ok);
    };
    socket
      .once('data', () => done(true))
      .once('error', () => done(false))
      .once('close', () => done(false));
  });
}
