/**
 * The HTTP face in this process, on port 0 and a fresh store, with a token of each scope and a doctor that is made
 * up. There is no daemon: jobs stay queued until a test moves them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandSpec } from '../../src/domain/commands/command.ts';
import type { JobEvent, RunEnd } from '../../src/domain/jobs/job.ts';
import { type Agent, agentText } from '../../src/domain/access/agent.ts';
import { SCOPES, type Scope } from '../../src/domain/access/scope.ts';
import { formatToken, newSecret } from '../../src/domain/access/token.ts';
import { createHttpFace, type HttpFace, type HttpFaceOptions } from '../../src/faces/api/face.ts';
import { encodeChunk } from '../../src/lib/chunks/chunk.ts';
import { type Clock, rfc3339, systemClock } from '../../src/lib/clock.ts';
import { Followers } from '../../src/lib/flow/followers.ts';
import { newId } from '../../src/lib/id.ts';
import { randomBytes } from '../../src/lib/random.ts';
import type { SealKeeper } from '../../src/lib/seal.ts';
import { type Authenticator, createAuthenticator } from '../../src/operations/access/authenticate.ts';
import type { Services } from '../../src/operations/core/services.ts';
import { insertChunk, lastSeq } from '../../src/store/jobs/chunks.ts';
import { claimJobs, fenceOf, finishJob } from '../../src/store/jobs/claims.ts';
import { getJob, insertJob } from '../../src/store/jobs/jobs.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { insertToken, revokeToken } from '../../src/store/access/tokens.ts';
import type { Prober } from '../../src/operations/checks/prober.ts';
import { fakeServices, memorySealKeeper } from './program-services.ts';
import { migratedDatabase } from './postgres/postgres.ts';
import { placeStore } from './store/template.ts';

/** What ends a program: a test's context, or anything that calls the steps itself. */
export interface Ending {
  after(step: () => Promise<void>): void;
}

export interface ProgramOptions extends Partial<
  Pick<HttpFaceOptions, 'basePath' | 'publicUrl' | 'secureCookies' | 'limits' | 'log' | 'peers' | 'turns'>
> {
  readonly postgres?: boolean;
  /** The store of another program: a second face on the same data, as a second daemon would be. */
  readonly beside?: Program;
  /** What operations see in place of the store. The authenticator keeps the store itself. */
  readonly wrapStore?: (store: Store) => Store;
  readonly clock?: Clock;
  readonly hasQueue?: boolean;
  /** Without one, probes reach what those of a daemon reach. */
  readonly prober?: Prober;
  /** As `--check-probes-per-second`. */
  readonly probesPerSecond?: number;
}

export interface TokenOptions {
  readonly name?: string;
  readonly owner?: string;
  readonly expiresAt?: number;
  readonly agent?: Agent | null;
}

export interface Program {
  /** Of the face, with the base path. */
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly services: Services;
  readonly authenticator: Authenticator;
  readonly face: HttpFace;
  readonly sealKey: Buffer;
  /** Of the embedded database; null on PostgreSQL. */
  readonly storeFile: string | null;
  /** One of each scope; their owners are called like the scope. */
  readonly tokens: Readonly<Record<Scope, string>>;
  /** What the face logged. */
  readonly logged: { fields: object; message: string }[];
  /** How often the queue was woken. */
  wakes(): number;
  token(scope: Scope, options?: TokenOptions): Promise<string>;
  revoke(token: string): Promise<void>;
  /** A signed-in browser's Cookie header. */
  session(token: string): Promise<string>;
  queue(): Promise<string>;
  /** Moves the one queued job to running. */
  claim(): Promise<void>;
  /** Appends lines to the standard output of a job, and tells its followers. */
  print(jobId: string, lines: readonly string[]): Promise<void>;
  finish(jobId: string, outcome: RunEnd): Promise<void>;
  close(): Promise<void>;
}

const DAEMON = 'dmn_test';
/** Random and the same for all tokens of this process: the slow hash is then computed once and not for each of them. */
const SECRET = newSecret();
const SALT = randomBytes(16);
const SEAL_KEY = randomBytes(32);
let hashed: Promise<Uint8Array> | undefined;

interface Base {
  readonly store: Store;
  readonly followers: Followers;
  readonly location: { readonly file: string } | { readonly url: string };
  close(): Promise<void>;
}

const bases = new WeakMap<Program, Base>();

async function openBase(options: ProgramOptions, clock: Clock, seal: SealKeeper): Promise<Base> {
  const other = options.beside === undefined ? undefined : bases.get(options.beside);
  const dir =
    other === undefined && options.postgres !== true ? mkdtempSync(join(tmpdir(), 'gatehouse-program-')) : null;
  const database = other === undefined && options.postgres === true ? await migratedDatabase() : null;
  const location =
    other?.location ??
    (database === null ? { file: placeStore(join(dir ?? '', 'gatehouse.db')) } : { url: database.url });
  const store = await openStore({
    location,
    clock,
    daemonId: newId('dmn', clock.now()),
    keyring: () => seal.keyring(),
  });
  const followers = new Followers();
  store.onForeignCommit(() => followers.wakeAll());
  return {
    store,
    followers,
    location,
    async close() {
      followers.wakeAll();
      await store.close();
      await database?.drop();
      if (dir !== null) rmSync(dir, { recursive: true, force: true });
    },
  };
}

export async function startProgram(ending: Ending | null, options: ProgramOptions = {}): Promise<Program> {
  const clock = options.clock ?? systemClock;
  const seal = memorySealKeeper(clock, SEAL_KEY);
  const base = await openBase(options, clock, seal);
  const store = options.wrapStore?.(base.store) ?? base.store;
  const authenticator = createAuthenticator({ store: base.store, clock, sealKey: SEAL_KEY });
  hashed ??= authenticator.hashToken(SECRET, SALT);
  const hash = await hashed;
  let wakes = 0;
  const services = fakeServices({
    store,
    seal,
    followers: base.followers,
    clock,
    authenticator,
    hasQueue: options.hasQueue ?? true,
    wake: () => (wakes += 1),
    prober: options.prober,
    probesPerSecond: options.probesPerSecond,
  });
  const logged: { fields: object; message: string }[] = [];
  const face = createHttpFace({
    runtime: { store, services },
    authenticator,
    basePath: options.basePath ?? '',
    publicUrl: options.publicUrl ?? null,
    secureCookies: options.secureCookies ?? false,
    log: options.log ?? { error: (fields, message) => void logged.push({ fields, message }) },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.peers === undefined ? {} : { peers: options.peers }),
    ...(options.turns === undefined ? {} : { turns: options.turns }),
  });
  const { url, port } = await face.listen({ host: '127.0.0.1', port: 0 });
  const token = tokenMaker(base.store, clock, hash);
  const tokens = {} as Record<Scope, string>;
  for (const scope of SCOPES) tokens[scope] = await token(scope, { owner: scope });
  const program: Program = {
    url,
    port,
    store: base.store,
    services,
    authenticator,
    face,
    sealKey: SEAL_KEY,
    storeFile: 'file' in base.location ? base.location.file : null,
    tokens,
    logged,
    wakes: () => wakes,
    token,
    revoke: async (text) => void (await base.store.write((tx) => revokeToken(tx, `tok_${text.split('_')[1]}`))),
    session: async (text) => `svc_session=${(await authenticator.signIn(text)).cookie}`,
    ...jobMoves(base),
    async close() {
      await face.close(0);
      await base.close();
    },
  };
  bases.set(program, base);
  ending?.after(() => program.close());
  return program;
}

function tokenMaker(store: Store, clock: Clock, hash: Uint8Array): Program['token'] {
  return async (scope: Scope, { name, owner, expiresAt, agent = null }: TokenOptions = {}): Promise<string> => {
    const id = newId('tok', clock.now());
    const called = name ?? `${scope}-${id.slice(-8)}`;
    const row = {
      id,
      name: called,
      owner: owner ?? called,
      scope,
      salt: SALT,
      hash,
      version: 1,
      expires_at: expiresAt ?? null,
      revoked_at: null,
      agent: agentText(agent),
    };
    await store.write((tx) => insertToken(tx, { ...row, created_at: tx.now }));
    return formatToken(id, SECRET);
  };
}

function jobMoves({ store, followers }: Base): Pick<Program, 'queue' | 'claim' | 'print' | 'finish'> {
  const append = (jobId: string, make: (seq: number, at: string) => JobEvent[]): Promise<void> =>
    store.write(async (tx) => {
      const first = (await lastSeq(tx.db, jobId)) + 1;
      const events = make(first, rfc3339(tx.now));
      const data = encodeChunk(events);
      insertChunk(tx, jobId, { first_seq: first, last_seq: first + events.length - 1, raw_bytes: data.length, data });
      tx.afterCommit(() => followers.wake(jobId));
    });
  return {
    queue: () => store.write(async (tx) => queueCommand(tx)),
    claim: async () => void (await store.write((tx) => claimJobs(tx, DAEMON, 1))),
    print: (jobId, lines) =>
      append(jobId, (first, at) =>
        lines.map((text, i) => ({ seq: first + i, at, type: 'log', stream: 'stdout', text })),
      ),
    async finish(jobId, { state, exitCode }) {
      await append(jobId, (seq, at) => [{ seq, at, type: 'state', state, exit_code: exitCode }]);
      const fence = fenceOf(await getJob(store.db, jobId));
      await store.write((tx) => finishJob(tx, fence, { state, exitCode }));
      followers.wake(jobId);
    },
  };
}

async function queueCommand(tx: Parameters<typeof insertJob>[0]): Promise<string> {
  const id = newId('job', tx.now);
  const spec: CommandSpec = { inventory: 'localhost', limit: null, command: ['true'], egressPorts: [] };
  await insertJob(tx, {
    id,
    kind: 'command',
    state: 'queued',
    runbook: 'command:localhost',
    source: null,
    trigger: 'api',
    workspace: null,
    concurrencyKey: null,
    privileged: false,
    createdAt: tx.now,
    requestedBy: 'somebody',
    owners: ['somebody'],
    redriveOf: null,
    spec: JSON.stringify(spec),
    timeoutMs: 60_000,
  });
  return id;
}
