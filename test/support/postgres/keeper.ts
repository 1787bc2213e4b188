/**
 * Stand-alone child program of postgres.ts: keeps one PostgreSQL server and clears it away when standard input
 * ends, which the kernel brings about even when the test process was killed. It says `{"url"}` or `{"error"}`, one
 * line each: first when the server answers, then after each line `kill` or `start` that it reads.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../network/free-port.ts';
import { type Home, launch, layHome, type Launched, logTail } from './home.ts';

/** A start takes about 0.1 s, recovery after a kill about as long; a loaded machine of two cores gets much more. */
const START_DEADLINE_MS = 60_000;
const POLL_MS = 20;

/** Another process may take the chosen port before the server binds it; that happens once in a long while. */
const PORT_ATTEMPTS = 5;

const password = randomBytes(12).toString('hex');
let home: Home | undefined;
let server: Launched | undefined;
let port = 0;

const url = (): string => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;

async function setUp(): Promise<void> {
  home = layHome(password);
  for (let attempt = 1; ; attempt += 1) {
    port = await freePort();
    try {
      return await start();
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || !logTail(home).includes('could not bind')) throw error;
    }
  }
}

async function start(): Promise<void> {
  if (home === undefined) throw new Error('There is no data directory.');
  if (server !== undefined && !server.ended()) return;
  const launched = launch(home, port);
  server = launched;
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await answers())) {
    if (launched.ended()) throw new Error(`PostgreSQL ended while it started.\n${logTail(home)}`);
    if (performance.now() > deadline) throw new Error(`PostgreSQL did not answer in time.\n${logTail(home)}`);
    await sleep(POLL_MS);
  }
}

async function answers(): Promise<boolean> {
  const client = new Client({ connectionString: url() });
  client.on('error', () => {}); // A connection cut while the server starts is one more "not yet".
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function obey(command: string): Promise<void> {
  if (command === 'kill') await server?.kill();
  else if (command === 'start') await start();
  else throw new Error(`Unknown command ${command}.`);
}

async function clearAway(): Promise<void> {
  await server?.quit();
  if (home !== undefined) rmSync(home.directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

function say(answer: { url: string } | { error: string }): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

/** Steps run one after another, so that an end of the input during a start clears away what the start made. */
let last: Promise<void> = Promise.resolve();
function step(work: () => Promise<void>): void {
  last = last.then(work).then(
    () => say({ url: url() }),
    (error: unknown) => say({ error: error instanceof Error ? error.message : String(error) }),
  );
}

process.stdout.on('error', () => {}); // The reader may be gone already; the end of the input says so too.
step(setUp);
const input = createInterface({ input: process.stdin });
input.on('line', (line) => step(() => obey(line)));
input.on('close', () => step(clearAway));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => input.close());
