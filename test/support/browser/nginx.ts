/** A reverse proxy in front of a program, as docs/how-to/deploy/put-behind-a-proxy.md sets one up. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../network/free-port.ts';
import { find, SERVERS } from '../tools.ts';

const STARTS_WITHIN_MS = 60_000;
/** Another process may take the chosen port first. */
const ATTEMPTS = 5;

interface Nginx {
  /** Of the proxy, without a path. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Passes what is below `basePath` to a port of loopback, and answers 404 to all else. */
export async function startNginx(port: number, basePath: string): Promise<Nginx> {
  const complaints: string[] = [];
  for (let i = 0; i < ATTEMPTS; i += 1) {
    const started = await start(port, basePath, (text) => complaints.push(text));
    if (started !== null) return started;
  }
  throw new Error(`nginx does not start: ${complaints.join('')}`);
}

async function start(port: number, basePath: string, complain: (text: string) => void): Promise<Nginx | null> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'));
  const own = await freePort();
  const url = `http://127.0.0.1:${own}`;
  writeFileSync(join(dir, 'nginx.conf'), configuration(dir, own, port, basePath));
  const child = spawn(find('nginx', SERVERS) ?? 'nginx', ['-p', dir, '-e', 'stderr', '-c', 'nginx.conf'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.on('data', (chunk: Buffer) => complain(chunk.toString()));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  };
  const until = performance.now() + STARTS_WITHIN_MS;
  while (child.exitCode === null && performance.now() < until) {
    if (await isOurs(url, dir)) return { url, stop };
    await pause(20);
  }
  await stop();
  return null;
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
    location / { add_header X-Folder ${dir} always; return 404; }
  }
}
`;
}

/** Whether this server answers there, and not one that has taken the port. */
async function isOurs(url: string, dir: string): Promise<boolean> {
  try {
    return (await fetch(url)).headers.get('x-folder') === dir;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
