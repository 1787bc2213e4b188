/**
 * A machine with what the examples name: a daemon, hosts that answer over SSH, and the inventory `prod`, the workspace
 * `net` and the others. Each example finds them again, whatever an earlier one has removed.
 */
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { localCaller } from '../../src/domain/access/caller.ts';
import { findGate } from '../../src/store/gate/gate.ts';
import { isNodeCordoned } from '../../src/store/maintenance/cordon.ts';
import { TERMINAL, until } from '../support/api-client.ts';
import type { RunningDaemon } from '../support/daemon.ts';
import { type Fixture, openFixture } from '../support/fixtures/installation.ts';
import { startSshServer } from '../support/inventories/sshd.ts';
import { copyProgram, type ProgramCopy } from '../support/restart/program-copy.ts';
import { type Folders, writeFiles } from './files.ts';
import { svcLine } from './line.ts';
import { type Ran, runSvc, type Shell } from './run.ts';

export interface Place extends Folders {
  readonly fixture: Fixture;
  readonly daemon: RunningDaemon;
  /** Of the daemon; a new build can be installed in its place. */
  readonly program: ProgramCopy;
  readonly env: Readonly<Record<string, string>>;
  /** An address and port of this machine that answers, in place of the hosts of the checks. */
  readonly answers: string;
  /** The token of a second person, who decides. */
  readonly approver: string;
  /** As another person than the one at the terminal, who can decide. */
  call<T>(operation: string, raw: object): Promise<T>;
  /** A call of `svc` as the reader does it. Throws where it ends otherwise than with 0. */
  svc(command: string): Promise<Ran>;
  readonly shell: Shell;
}

/** In the order in which they need each other: how each is made. */
const THINGS: readonly (readonly [noun: string, name: string, command: string])[] = [
  ['source', 'infra', 'svc source add infra --dir ./infra'],
  ['source', 'ops', 'svc source add ops --dir ./ops'],
  ['secret', 'net/token', 'svc secret set net/token --file token.txt'],
  ['secret', 'net/deploy-key', 'svc secret set net/deploy-key --file deploy.key'],
  ['secret', 'ops/deploy-key', 'svc secret set ops/deploy-key --file deploy.key'],
  ['inventory', 'prod', 'svc inventory add prod --file hosts.yaml --ssh-key ops/deploy-key'],
  ['workspace', 'net', 'svc workspace add net --dir ./net'],
  ['workflow', 'patch-and-check', 'svc workflow add --file patch-and-check.yaml'],
  ['rule', 'disk-full', 'svc rule add --file disk-full.yaml'],
  ['schedule', 'nightly', 'svc schedule add nightly --cron "0 3 * * *" --drift net'],
  ['webhook', 'alerts', 'svc webhook add alerts --source alertmanager'],
  ['webhook', 'watchdog', 'svc webhook add watchdog --source alertmanager'],
  ['deadman', 'prometheus', 'svc deadman add prometheus --webhook watchdog --every 10m'],
  ['netgroup', 'dc-eu', 'svc netgroup add dc-eu --prefixes 10.0.0.0/16'],
  ['check', 'web', 'svc check add web --kind tcp --interval 1h --target web1=ADDRESS --target web2=ADDRESS'],
  ['token', 'ci', 'svc token create --name ci --scope operator'],
  ['context', 'prod', 'svc context add prod --url URL --token-file ~/.config/gatehouse/prod.token'],
  ['context', 'lab', 'svc context add lab --url URL --token-variable LAB_TOKEN'],
];

const OPEN = ['queued', 'running', 'awaiting_approval'] as const;
const NODE = 'web1';
/** Of the examples, and the one of the approvals. Another one is in the way of its source. */
/** A second person. */
const APPROVER = { name: 'ben', scope: 'approve' };
export const GATED = 'gated';
const KEPT = ['net', GATED];

export async function openPlace(t: TestContext, shell: Shell): Promise<Place> {
  const server = await startSshServer();
  t.after(() => server.stop());
  const fixture = await openFixture(t);
  const folder = join(fixture.dir, 'clone');
  const root = join(fixture.dir, 'root');
  for (const dir of [folder, root]) mkdirSync(dir, { mode: 0o755 });
  const folders = { folder, root, server };
  writeFiles(folders);
  const program = copyProgram(join(fixture.dir, 'program'));
  const env = environment(fixture.dir, root, program);
  const daemon = await fixture.start({ args: ['--node-name', NODE], program: program.main });
  const { token: approver } = await fixture.call<{ token: string }>('token.create', APPROVER);
  const api = daemon.api(fixture.token);
  await until('the daemon knows its program', async () => (await api.post('/maintenance/restart', {})).status === 409);
  writeFileSync(join(root, '.config/gatehouse/prod.token'), fixture.token, { mode: 0o600 });
  const svc = async (command: string): Promise<Ran> => {
    const line = svcLine(command, root);
    if (line === null) throw new Error(`no call of svc: ${command}`);
    const ran = await runSvc(line, { env, folder });
    if (ran.code !== 0) throw new Error(`${command}\n${ran.shown}`);
    return ran;
  };
  return {
    ...folders,
    fixture,
    daemon,
    program,
    approver,
    answers: await listen(t),
    env: { ...env, SVC_TOKEN: fixture.token, TOKEN: fixture.token, LAB_TOKEN: fixture.token },
    call: (operation, raw) => fixture.call(operation, raw, localCaller('mara')),
    svc,
    shell,
  };
}

export const ADDRESS = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

async function listen(t: TestContext): Promise<string> {
  const listener = createServer((socket) => socket.destroy()).listen(0, ADDRESS);
  await once(listener, 'listening');
  t.after(() => listener.close());
  return `${ADDRESS}:${(listener.address() as AddressInfo).port}`;
}

/** Of a shell: `svc` is the program of the daemon. */
function environment(dir: string, root: string, program: ProgramCopy): Record<string, string> {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  symlinkSync(join(dirname(dirname(program.main)), 'bin', 'svc'), join(bin, 'svc'));
  return {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: root,
    USER: 'reader',
    LANG: 'C.UTF-8',
    SVC_DATA_DIR: join(dir, 'data'),
    SVC_SEAL_KEY_FILE: join(dir, 'seal.key'),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  };
}

/** Where each is in the store, which is read before each example. A user may hold one of the others. */
const NOUNS = {
  source: { table: 'sources' },
  secret: { table: 'secrets' },
  inventory: { table: 'inventories' },
  workspace: { table: 'workspaces', isUser: true },
  workflow: { table: 'workflows', isUser: true },
  rule: { table: 'rules', isUser: true },
  schedule: { table: 'schedules', isUser: true },
  webhook: { table: 'webhooks' },
  deadman: { table: 'deadmen', isUser: true },
  netgroup: { table: 'netgroups' },
  check: { table: 'checks' },
} as const;

function isStored(noun: string): noun is keyof typeof NOUNS {
  return Object.hasOwn(NOUNS, noun);
}

function isUser(noun: string): boolean {
  return isStored(noun) && 'isUser' in NOUNS[noun];
}

async function namesOf(at: Place, noun: string): Promise<string[]> {
  const { db } = at.fixture.store;
  if (noun === 'context') return readdirSync(contexts(at.root)).map((name) => name.replace('.json', ''));
  if (noun === 'secret')
    return (await db.selectFrom('secrets').select(['project', 'name']).execute()).map(
      (row) => `${row.project}/${row.name}`,
    );
  if (noun === 'token')
    return (await db.selectFrom('tokens').select('name').where('revoked_at', 'is', null).execute()).map(
      (row) => row.name,
    );
  if (!isStored(noun)) return [];
  return (await db.selectFrom(NOUNS[noun].table).select('name').execute()).map((row) => row.name);
}

function contexts(root: string): string {
  return join(root, '.config', 'gatehouse', 'contexts');
}

/** Makes what is missing, and ends what earlier examples have left. */
export async function prepare(at: Place): Promise<void> {
  const { fixture, root, daemon, server } = at;
  rmSync(join(root, '.config', 'gatehouse', 'context'), { force: true });
  if (await isNodeCordoned(fixture.store.db, NODE))
    for (const node of [undefined, NODE]) await fixture.call('maintenance.uncordon', { node });
  await openGate(at);
  const open = await fixture.store.db.selectFrom('jobs').select('id').where('state', 'in', OPEN).execute();
  for (const { id } of open) await fixture.call('job.cancel', { id }).catch(() => undefined);
  for (const { id } of open) await fixture.waitFor(id, TERMINAL);
  const guarded = fixture.store.db.selectFrom('workspaces').select('name').where('name', '=', 'net');
  if (
    (await guarded.where((or) => or.or([or('require_saved_plan', '=', 1), or('protect_destroy', '=', 1)])).execute())
      .length > 0
  )
    await at.svc(removal('workspace', 'net'));
  for (const name of (await namesOf(at, 'workspace')).filter((each) => !KEPT.includes(each)))
    await at.svc(removal('workspace', name));
  for (const noun of new Set(THINGS.map(([noun]) => noun))) {
    const names = await namesOf(at, noun);
    for (const [, name, command] of THINGS.filter((thing) => thing[0] === noun && !names.includes(thing[1]))) {
      await at.svc(command.replace('URL', daemon.ready.web_url).replaceAll('ADDRESS', at.answers));
      if (noun === 'inventory')
        await fixture.call('inventory.trust', { name, hosts: 'all', fingerprints: [server.fingerprint] });
    }
  }
}

/** Of earlier examples, what would hold the next one. */
async function openGate({ fixture }: Place): Promise<void> {
  const { db } = fixture.store;
  if ((await findGate(fixture.store)).isStrict) await fixture.call('gate.strict', { state: 'off' });
  for (const noun of ['inventory', 'source'] as const) {
    const table = noun === 'source' ? ('sources' as const) : ('inventories' as const);
    const held = await db.selectFrom(table).select('name').where('approve_runs', '<>', 'none').execute();
    const names = [...held.map(({ name }) => name), ...(noun === 'inventory' ? ['localhost'] : [])];
    for (const name of names) await fixture.call(`${noun}.update`, { name, approve_runs: 'none' });
  }
}

/** So that an example can add it. */
export async function remove(at: Place, noun: string, name: string): Promise<void> {
  if (!(await namesOf(at, noun)).includes(name)) return;
  const users = isUser(noun) ? [] : Object.keys(NOUNS).filter(isUser);
  for (const user of users)
    for (const each of await namesOf(at, user)) if (each !== GATED) await at.svc(removal(user, each));
  await at.svc(removal(noun, name));
}

function removal(noun: string, name: string): string {
  if (noun === 'token') return `svc token revoke ${name} --yes`;
  return `svc ${noun} remove ${name} --yes${noun === 'workspace' ? ' --force' : ''}`;
}
