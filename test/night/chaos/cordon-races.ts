/**
 * Cordons that race claims: two daemons are asked for jobs and for a cordon at the same moment. The answer of the
 * cordon lists what runs, read in its own transaction; whatever starts besides was claimed after the cordon.
 */
import { type Api, TERMINAL, until } from '../../support/api-client.ts';
import { openFixture, type Ending, type Fixture } from '../../support/fixtures/installation.ts';
import { seeded, type Seeded } from '../../support/seeded.ts';

export interface RaceOptions {
  readonly postgres: boolean;
  readonly races: number;
  readonly seed: number;
}

interface RaceFigures {
  readonly races: number;
  /** In which some jobs were claimed before the cordon and some were not. */
  readonly contested: number;
  /** Of each cordon, from its request to its answer. */
  readonly answerMs: readonly number[];
}

interface Violation {
  readonly rule: 'T32';
  readonly what: string;
}

interface RaceResult {
  readonly violations: readonly Violation[];
  readonly figures: RaceFigures;
}

const NODES = ['one', 'two'];
/** Requested at the same time as the cordon, by each race. */
const JOBS = 4;
/** More than one race leaves to a daemon, so that only the cordon stops it. */
const MAX_JOBS = '16';
/** The requests of one race begin within this time. */
const WITHIN_MS = 12;
/** Longer than a race: a job that was claimed is still running when the race is judged. */
const COMMAND = ['/bin/sleep', '600'];
const ENDED_LIMIT_MS = 60_000;

interface Readiness {
  readonly running: readonly { readonly job_id: string }[];
}

interface Scene {
  readonly fixture: Fixture;
  readonly chance: Seeded;
  readonly apis: readonly Api[];
}

export async function runCordonRaces(ending: Ending, { postgres, races, seed }: RaceOptions): Promise<RaceResult> {
  const fixture = await openFixture(ending, { postgres });
  const daemons = await Promise.all(
    NODES.map((name) => fixture.start({ args: ['--node-name', name, '--max-jobs', MAX_JOBS] })),
  );
  const scene = { fixture, chance: seeded(seed), apis: daemons.map((daemon) => daemon.api(fixture.token)) };
  const violations: Violation[] = [];
  const answerMs: number[] = [];
  let contested = 0;
  for (let n = 0; n < races; n += 1) {
    // Of the whole service and of one daemon alone, in turn.
    const node = n % 2 === 0 ? null : scene.chance.pick(NODES);
    const { claimed, late, tookMs } = await race(scene, node);
    answerMs.push(tookMs);
    if (claimed > 0 && claimed < JOBS) contested += 1;
    for (const id of late) violations.push({ rule: 'T32', what: `race ${n}: ${id} was claimed after the cordon` });
  }
  const codes = await Promise.all(daemons.map((daemon) => daemon.stop()));
  if (codes.some((code) => code !== 0)) throw new Error(`the daemons stopped with ${codes.join(', ')}`);
  return { violations, figures: { races, contested, answerMs } };
}

/** How many jobs were claimed before the cordon, which ones after it, and how long its answer took. */
async function race(
  { fixture, chance, apis }: Scene,
  node: string | null,
): Promise<{ claimed: number; late: readonly string[]; tookMs: number }> {
  const query = node === null ? '' : `?node=${node}`;
  const early = Promise.all(Array.from({ length: JOBS }, () => soon(chance, () => chance.pick(apis).run(COMMAND))));
  const cordon = soon(chance, async () => {
    const began = performance.now();
    const answer = await chance.pick(apis).post<Readiness>(`/maintenance/cordon${query}`);
    const tookMs = performance.now() - began;
    if (answer.status !== 200) throw new Error(`a cordon was answered ${answer.status}: ${answer.text}`);
    return { tookMs, running: answer.data.running.map(({ job_id: id }) => id) };
  });
  const [{ tookMs, running }, first] = await Promise.all([cordon, early]);
  // A request wakes its daemon, and would claim in its own commit.
  const more = await Promise.all(apis.map((api) => api.run(COMMAND)));
  const ids = [...first, ...more];
  const begun = await Promise.all(ids.map((id) => end(fixture, chance.pick(apis), id)));
  const late = begun.filter((job) => job.node !== null && (node === null || job.node === node));
  const { status } = await chance.pick(apis).post(`/maintenance/uncordon${query}`);
  if (status !== 200) throw new Error(`an uncordon was answered ${status}`);
  return { claimed: running.length, late: late.map(({ id }) => id).filter((id) => !running.includes(id)), tookMs };
}

function soon<T>(chance: Seeded, work: () => Promise<T>): Promise<T> {
  const ms = chance.next() * WITHIN_MS;
  return new Promise<void>((resolve) => setTimeout(resolve, ms)).then(work);
}

/** Cancels a job; the name of the daemon that had claimed it, or null. */
async function end(
  fixture: Fixture,
  api: Api,
  id: string,
): Promise<{ readonly id: string; readonly node: string | null }> {
  await api.post(`/jobs/${id}/cancel`);
  const job = fixture.store.db
    .selectFrom('jobs')
    .leftJoin('daemons', 'daemons.id', 'jobs.daemon_id')
    .select(['jobs.state', 'jobs.started_at', 'daemons.node'])
    .where('jobs.id', '=', id);
  return until(
    `job ${id} has ended`,
    async () => {
      const { state, started_at: at, node } = await job.executeTakeFirstOrThrow();
      return TERMINAL.includes(state) ? { id, node: at === null ? null : node } : undefined;
    },
    ENDED_LIMIT_MS,
  );
}

/** One line for people. */
export function describeRaces({ races, contested, answerMs }: RaceFigures): string {
  const sorted = answerMs.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0).toFixed(1);
  const times = `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
  return `${races} cordons, ${contested} of them among claims; answered after ${times}`;
}
