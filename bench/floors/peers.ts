/** Other programs that start work on request, each measured only where it is installed. */
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { runChild } from '../kit/child.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { load } from '../kit/load.ts';
import { end, removeDir, start, tempDir } from '../kit/scratch.ts';
import { sleep, until, wallMs } from '../kit/time.ts';
import type { BullOrder } from './bullmq.ts';

/** Prints the time at which it runs, in nanoseconds since the epoch: as near to a first instruction as a tool gets. */
export const CLOCK: readonly [string, string] = ['/bin/date', '+%s%N'];
const READY_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 20;
const PAUSE_MS = 20;
const NANOSECONDS_PER_MS = 1e6;

/** Milliseconds since the epoch of the time that CLOCK printed. */
export function printedMs(output: string): number {
  const ms = Number(output.trim()) / NANOSECONDS_PER_MS;
  if (!Number.isFinite(ms) || ms === 0) throw new Error(`not a time: ${output}`);
  return ms;
}

/** The path of a program, or null where it is not installed. */
export function installed(name: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return null;
}

/** Whether a package of the bench is installed: what is built without development dependencies has none. */
export function packageInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** From adding a job to the start of its handler, in BullMQ on Redis that writes each change to disk. */
export async function bullmqStarts(redis: string, count: number): Promise<number[]> {
  return withServer(
    (port, dir) =>
      start(
        redis,
        ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'yes'].concat([
          '--appendfsync',
          'always',
        ]),
        { stdio: 'ignore' },
      ),
    (port) => runChild<number[]>('floors/bullmq.ts', { port, count } satisfies BullOrder),
  );
}

/** From sending a request to the first instruction of the program that Debian's `webhook` starts for it. */
export async function webhookStarts(webhook: string, count: number): Promise<number[]> {
  const [program, format] = CLOCK;
  const hook = {
    id: 'clock',
    'execute-command': program,
    'pass-arguments-to-command': [{ source: 'string', name: format }],
    'include-command-output-in-response': true,
  };
  const serve = (port: number, dir: string): ChildProcess => {
    writeFileSync(join(dir, 'hooks.json'), JSON.stringify([hook]));
    const args = ['-hooks', join(dir, 'hooks.json'), '-ip', '127.0.0.1', '-port', String(port)];
    return start(webhook, args, { stdio: 'ignore' });
  };
  return withServer(serve, async (port) => {
    const url = `http://127.0.0.1:${port}/hooks/clock`;
    const connection = await HttpConnection.open(url);
    const bytes = requestBytes({ method: 'POST', url, body: '{}' });
    const samples: number[] = [];
    try {
      for (let i = 0; i <= count; i += 1) {
        const before = wallMs();
        const { body } = await connection.send(bytes);
        if (i > 0) samples.push(printedMs(body.toString()) - before);
        await sleep(PAUSE_MS);
      }
      return samples;
    } finally {
      connection.close();
    }
  });
}

/** Alerts a second that Debian's Alertmanager takes into its memory, one a message, and sends nowhere. */
export async function alertmanagerTakes(
  alertmanager: string,
  { body, clients, durationMs }: { readonly body: string; readonly clients: number; readonly durationMs: number },
): Promise<number> {
  const serve = (port: number, dir: string): ChildProcess => {
    const config = join(dir, 'alertmanager.yml');
    writeFileSync(config, 'route:\n  receiver: none\nreceivers:\n  - name: none\n');
    const args = [`--config.file=${config}`, `--storage.path=${dir}`, `--web.listen-address=127.0.0.1:${port}`];
    return start(alertmanager, [...args, '--cluster.listen-address='], { stdio: 'ignore' });
  };
  return withServer(serve, async (port) => {
    const url = `http://127.0.0.1:${port}/api/v2/alerts`;
    const request = { method: 'POST', url, body, headers: { 'content-type': 'application/json' } };
    return (await load({ request, clients, durationMs, warmUpMs: 500 }, 200)).perSecond;
  });
}

async function withServer<T>(
  serve: (port: number, dir: string) => ChildProcess,
  use: (port: number) => Promise<T>,
): Promise<T> {
  const dir = tempDir('peer');
  const port = await freePort();
  const child = serve(port, dir);
  try {
    await until('the peer answers', READY_WITHIN_MS, ASK_EVERY_MS, () => answers(port));
    return await use(port);
  } finally {
    await end(child);
    removeDir(dir);
  }
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
