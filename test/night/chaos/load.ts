/** Clients that queue, cancel and look while daemons die under them, and remember every answer that they got. */
import type { JobState } from '../../../src/domain/jobs/job.ts';
import type { Api } from '../../support/api-client.ts';
import type { Fixture } from '../../support/fixtures/installation.ts';
import type { ClientRecord, EnqueueAck, Observation } from './history.ts';
import { REQUEST_MARK } from './history.ts';
import type { Seeded } from '../../support/seeded.ts';

const CLIENTS = 4;
/** Jobs that have not ended, at most: more would only wait, and the end of the run with them. */
const OPEN_JOBS_MAX = 40;
const PAUSE_MS = 20;
const LONG_SHARE = 0.3;

export interface LoadOptions {
  readonly fixture: Fixture;
  readonly chance: Seeded;
  /** The daemons that answer at the moment; empty while all are down. */
  readonly apis: () => readonly Api[];
  readonly keys: number;
}

export interface Load {
  /** Ends the clients: what is under way is finished or given up. */
  stop(): Promise<ClientRecord>;
  readonly acks: () => number;
}

export function startLoad({ fixture, chance, apis, keys }: LoadOptions): Load {
  const enqueued: EnqueueAck[] = [];
  const cancelled: string[] = [];
  const observed: Observation[] = [];
  const stopping = new AbortController();
  let requests = 0;

  /** Sends until somebody answers, always with the same key: an answer that was lost must not become a second job. */
  const request = async (): Promise<void> => {
    const key = `${chance.seed}-${(requests += 1)}`;
    const seconds = chance.whole(0, 20) / 100;
    const command = ['/bin/sh', '-c', `echo start; sleep ${seconds}; echo end`, `${REQUEST_MARK}${key}`];
    while (!stopping.signal.aborted) {
      const api = pickOne(apis());
      const answer = await api
        ?.post<{ job_id: string }>('/commands/run', { inventory: 'localhost', command }, { 'idempotency-key': key })
        .catch(() => null);
      if (answer?.status === 202) return void enqueued.push({ jobId: answer.data.job_id, requestKey: key });
      if (answer && answer.status < 500) throw new Error(`an enqueue was answered ${answer.status}: ${answer.text}`);
      await pause();
    }
  };
  const queueKeyed = async (): Promise<void> => {
    const key = `key-${chance.whole(1, keys)}`;
    const mode = chance.next() < 0.2 ? 'deaf' : 'plain';
    // The long ones would outlive a restart, so that a daemon that ends no process is found.
    const seconds = chance.next() < LONG_SHARE ? chance.whole(3, 6) : chance.whole(0, 30) / 100;
    const jobId = await fixture.queue({ command: fixture.witness.command(key, seconds, mode), key });
    enqueued.push({ jobId, requestKey: null });
  };
  const cancel = async (): Promise<void> => {
    const one = enqueued.at(-chance.whole(1, Math.min(10, enqueued.length)));
    if (one === undefined) return;
    const answer = await pickOne(apis())
      ?.post(`/jobs/${one.jobId}/cancel`)
      .catch(() => null);
    if (answer?.status === 200) cancelled.push(one.jobId);
  };
  const look = async (): Promise<void> => {
    const answer = await pickOne(apis())
      ?.get<{ id: string; state: JobState }[]>('/jobs?limit=50')
      .catch(() => null);
    if (answer?.status === 200) observed.push(...answer.data.map(({ id, state }) => ({ jobId: id, state })));
  };
  const pickOne = (from: readonly Api[]): Api | null => (from.length === 0 ? null : chance.pick(from));
  const client = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if ((await openJobs(fixture)) >= OPEN_JOBS_MAX) await pause();
      else if (chance.next() < 0.55) await request();
      else await queueKeyed();
      if (chance.next() < 0.1) await cancel();
      if (chance.next() < 0.2) await look();
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  // A client that fails is heard at the end, not as an unhandled rejection in between.
  for (const each of clients) each.catch(() => undefined);
  return {
    acks: () => enqueued.length,
    async stop() {
      stopping.abort();
      await Promise.all(clients);
      return { enqueued, cancelled, observed };
    },
  };
}

async function openJobs(fixture: Fixture): Promise<number> {
  const { open } = await fixture.store.db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('open'))
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow();
  return open;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
