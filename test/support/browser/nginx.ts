/** A reverse proxy in front of a program, as docs/how-to/deploy/put-behind-a-proxy.md sets one up. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { find, SERVERS } from '../tools.ts';

const STARTS_WITHIN_MS = 60_000;

interface Nginx {
  /** Of the proxy, without a path. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Passes what is below `basePath` to a port of loopback, and answers 404 to all else. */
export async function startNginx(port: number, basePath: string): Promise<Nginx> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'));
  const own = await freePort();
  writeFileSync(join(dir, 'nginx.conf'), configuration(dir, own, port, basePath));
  const program = find('nginx', SERVERS) ?? 'nginx';
  const child = spawn(program, ['-p', dir, '-e', 'stderr', '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  };
  const until = Date.now() + STARTS_WITHIN_MS;
  while (!(await accepts(own))) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`nginx does not start: ${complaint}`);
    }
    await pause(20);
  }
  return { url: `http://127.0.0.1:${own}`, stop };
}

function configuration(dir: string, own: number, port: number, basePath: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
worker_processes 1;
pid ${dir}/pid;
${process.getuid?.() === 0 ? `user ${userInfo().username};` : ''}
events { worker_connections 256; }
http {
  access_log off;
  ${kinds.map((kind) => `${kind}_temp_path ${dir}/${kind};`).join(' ')}
  server {
    listen 127.0.0.1:${own};
    proxy_set_header Host              $http_host;
    proxy_set_header X-Forwarded-For   $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    location = ${basePath} { proxy_pass http://127.0.0.1:${port}; }
    location ${basePath}/ { proxy_pass http://127.0.0.1:${port}; proxy_buffering off; }
    location / { return 404; }
  }
}
`;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false))
      .once('connect', () => socket.destroy());
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
