/** An older build makes its data and ends, this build takes them over, and the older one refuses them from then on. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMigrations } from '../../../src/store/engine/migration.ts';
import { until } from '../../support/api-client.ts';
import { NotReady, type Refusal, type StartingDaemon } from '../../support/daemon.ts';
import type { Ending } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';
import { type OldBuild, ROOT } from './builds.ts';
import { CONTENT, type Check, type Content } from './content.ts';
import { createTokens, folderOf, openPlace, type Place, type Program, type Session } from './place.ts';
import { sessionOf, THIS_BUILD } from './place.ts';
import type { Report } from './report.ts';
import { differences, type Snapshot, takeSnapshot } from './snapshot.ts';

export const NEWEST_SCHEMA = readMigrations(join(ROOT, 'migrations', 'sqlite')).at(-1)?.number ?? 0;

/** How long a daemon on PostgreSQL may be dead before its jobs are interrupted: a lease of 15s, and a pass. */
const TAKEOVER_LIMIT_MS = 60_000;

export interface Scene {
  readonly row: OldBuild;
  readonly old: Program;
  readonly postgres: boolean;
  /** `stopped`: in order, with jobs in the queue of a cordoned daemon. `killed`: while a job runs. */
  readonly end: 'stopped' | 'killed';
}

/** What is open when the older build ends. */
interface OpenWork {
  /** Runs at the end of a daemon that is killed. */
  readonly running: string | null;
  readonly queued: string;
  /** Outside of the sandbox: it adds a line to the file. */
  readonly privileged: string;
  readonly witness: string;
}

interface Before {
  readonly checks: ReadonlyMap<string, Check>;
  readonly snapshot: Snapshot;
  readonly work: OpenWork;
}

export async function runUpgrade(ending: Ending, report: Report, scene: Scene): Promise<void> {
  const { row, old, postgres, end } = scene;
  const label = `${row.name} ${postgres ? 'postgres' : 'sqlite'} ${end}`;
  const check = (name: string, work: () => Promise<void>): Promise<boolean> => report.check(`${label}: ${name}`, work);
  const place = await openPlace(ending, postgres);
  let before: Before | null = null;
  const tokens = { operator: '', approver: '' };
  await check('the older build makes its data and ends', async () => {
    // One job at a time, so that the ones behind a long one are still queued when the daemon is killed.
    const child = place.spawn(old, ['--max-jobs', '1']);
    const daemon = await child.ready;
    Object.assign(tokens, await createTokens(place, old));
    const session = sessionOf(place, old, daemon, tokens);
    const checks = await makeContent(session, scene, report, label);
    const work = await leaveWork(session, end);
    const snapshot = await takeSnapshot(session, row.schema);
    await endDaemon(child, end);
    before = { checks, snapshot, work };
  });
  if (before === null) return;
  if (row.schema < NEWEST_SCHEMA) await check('verbs and --no-migrate refuse the old schema', () => refuseOld(place));
  await check('this build starts', async () => {
    const daemon = await place.spawn(THIS_BUILD).ready;
    await takeOver(sessionOf(place, THIS_BUILD, daemon, tokens), before as unknown as Before, check);
    assert.equal(await daemon.stop(), 0);
  });
  // A killed daemon on PostgreSQL had a valid lease: a ledger without keys gets its seams by the next start.
  await check('after a restart the doctor finds no fault, and the ledger verifies', async () => {
    const daemon = await place.spawn(THIS_BUILD).ready;
    await assertHealthy(sessionOf(place, THIS_BUILD, daemon, tokens));
    assert.equal(await daemon.stop(), 0);
  });
  if (row.schema < NEWEST_SCHEMA)
    await check('the older build refuses the new schema', async () => assertRefuses(place.spawn(old)));
}

async function makeContent(old: Session, scene: Scene, report: Report, label: string): Promise<Map<string, Check>> {
  const made = new Map<string, Check>();
  for (const content of CONTENT.filter((each) => isMade(each, scene))) {
    const missing = content.needs === undefined ? false : needs(content.needs);
    if (missing !== false) report.leaveOut(`${label}: ${content.name}`, missing);
    else
      await report.check(
        `${label}: made: ${content.name}`,
        async () => void made.set(content.name, await content.make(old)),
      );
  }
  return made;
}

/** The second ending has less: a run of terraform takes seconds, and its rows are the same. */
function isMade({ since, needs: tool, isOfSqlite }: Content, { row, postgres, end }: Scene): boolean {
  return since <= row.schema && (end === 'stopped' || tool === undefined) && !(postgres && isOfSqlite === true);
}

async function leaveWork(session: Session, end: Scene['end']): Promise<OpenWork> {
  const { operator, place } = session;
  let running: string | null = null;
  if (end === 'stopped') await session.verb(['maintenance', 'cordon']);
  else {
    running = await operator.run(['sleep', '600']);
    await operator.waitFor(running, ['running']);
  }
  const queued = await operator.run(['echo', 'once']);
  const witness = join(folderOf(place, 'witness'), 'lines');
  const command = ['sh', '-c', `echo line >> ${witness}`];
  const words = ['command', 'run', '--inventory', 'localhost', '--privileged', '--', ...command];
  const { job_id: privileged } = await session.verb<{ job_id: string }>(words);
  for (const id of [queued, privileged]) assert.equal((await operator.job(id)).state, 'queued');
  return { running, queued, privileged, witness };
}

async function endDaemon(child: StartingDaemon, end: Scene['end']): Promise<void> {
  if (end === 'stopped') return assert.equal(await (await child.ready).stop(), 0);
  await child.kill();
  await child.helpersEnded();
}

async function refuseOld(place: Place): Promise<void> {
  const { exitCode, text } = await place.svc(THIS_BUILD, ['job', 'list']);
  assert.notEqual(exitCode, 0);
  assert.match(text, /"code":"unavailable".*svc migrate.*svc serve/s);
  const refusal = await refusalOf(place.spawn(THIS_BUILD, ['--no-migrate']));
  assert.match(refusal.stdout, /"code":"unavailable".*svc migrate/s);
}

type CheckNamed = (name: string, work: () => Promise<void>) => Promise<boolean>;

async function takeOver(now: Session, { checks, snapshot, work }: Before, check: CheckNamed): Promise<void> {
  await check('the schema is up to date', async () => {
    assert.deepEqual(await now.verb(['migrate']), { from: NEWEST_SCHEMA, to: NEWEST_SCHEMA });
  });
  await check('all that the older build showed is shown with the same values', async () => {
    assert.ok(snapshot.length > 0);
    const found = await differences(now, snapshot);
    assert.equal(found.length, 0, `\n  ${found.join('\n  ')}`);
  });
  await check('queued jobs run once, the interrupted one is marked and can be redriven', () => finishWork(now, work));
  for (const [name, each] of checks) await check(name, () => each(now));
}

async function finishWork(now: Session, { running, queued, privileged, witness }: OpenWork): Promise<void> {
  const { operator } = now;
  if (running === null) {
    for (const id of [queued, privileged]) assert.equal((await operator.job(id)).state, 'queued');
    await now.verb(['maintenance', 'uncordon']);
  } else {
    await operator.waitFor(running, ['interrupted'], TAKEOVER_LIMIT_MS);
    const words = ['job', 'redrive', running, '--yes'];
    const answer = await now.verb(words);
    const { data } = await operator.get<{ id: string; redrive_of: string | null }[]>('/jobs?limit=0');
    const redriven = data.find(({ redrive_of }) => redrive_of === running);
    assert.ok(redriven, `there is a new job: ${JSON.stringify(answer)}`);
    await operator.waitFor(redriven.id, ['running']);
    await operator.post(`/jobs/${redriven.id}/cancel`);
  }
  for (const id of [queued, privileged]) assert.equal((await operator.waitFor(id)).state, 'succeeded');
  await assertRanOnce(now, queued);
  assert.equal(existsSync(witness) ? readFileSync(witness, 'utf8') : '', 'line\n');
}

/** For a job that prints `once`. */
export async function assertRanOnce({ operator }: Pick<Session, 'operator'>, id: string): Promise<void> {
  const events = await operator.events(id);
  assert.equal(events.filter(({ state }) => state === 'running').length, 1, `job ${id} started once`);
  assert.equal(events.filter(({ text }) => text === 'once').length, 1, `job ${id} printed its line once`);
}

interface Health {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

/** Warnings are of the machine, such as a job user that is missing. */
export async function assertHealthy({ operator }: Session): Promise<void> {
  const { data } = await operator.get<readonly Health[]>('/health');
  const ledger = data.find(({ name }) => name === 'audit_ledger');
  assert.equal(ledger?.status, 'ok', ledger?.detail ?? 'there is no entry of the ledger');
  assert.deepEqual(
    data.filter(({ status }) => status === 'fail'),
    [],
  );
}

async function refusalOf(child: StartingDaemon): Promise<Refusal> {
  try {
    await child.ready;
  } catch (error) {
    if (error instanceof NotReady) return error.refusal;
    throw error;
  }
  await child.kill();
  throw new Error('the daemon became ready, and was to refuse');
}

async function assertRefuses(child: StartingDaemon): Promise<void> {
  const { exitCode, stdout, stderr } = await refusalOf(child);
  assert.notEqual(exitCode, 0);
  assert.match(`${stdout}${stderr}`, /this build knows schemas up to \d+\. Use the newer build\./);
}

/** A build whose first migration was changed later: this one refuses its store, and the older build still reads it. */
export async function runRefusal(
  ending: Ending,
  report: Report,
  { row, old, postgres }: Omit<Scene, 'end'>,
): Promise<void> {
  const database = postgres ? 'postgres' : 'sqlite';
  const name = `${row.name} ${database}: this build refuses the store and changes nothing in it`;
  const place = await openPlace(ending, postgres);
  await report.check(name, async () => {
    const daemon = await place.spawn(old).ready;
    const tokens = await createTokens(place, old);
    const id = await daemon.api(tokens.operator).run(['echo', 'once']);
    await daemon.api(tokens.operator).waitFor(id);
    assert.equal(await daemon.stop(), 0);
    const refusal = await refusalOf(place.spawn(THIS_BUILD));
    assert.match(refusal.stdout, /Migration 1 \(foundation\) of the store is not the one of this build\./);
    const again = await place.spawn(old).ready;
    const job = await until('the job is shown', () => again.api(tokens.operator).job(id));
    assert.equal(job.state, 'succeeded');
    assert.equal(await again.stop(), 0);
  });
}
