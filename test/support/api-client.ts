/** A client of the API for stories: every answer with its status and bytes, typed by who asks. */
import { IS_EMULATED, MachineTime, patient } from './measure/slowness.ts';

export interface ApiAnswer<T> {
  readonly status: number;
  readonly text: string;
  readonly data: T;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string } | undefined;
}

export interface JobJson {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly exit_code: number | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly concurrency_key: string | null;
  readonly privileged?: true;
}

export interface EventJson {
  readonly seq: number;
  readonly at: string;
  readonly type: 'state' | 'log' | 'progress';
  readonly state?: string;
  readonly exit_code?: number | null;
  readonly stream?: 'stdout' | 'stderr' | 'system';
  readonly text?: string;
}

export interface RunOptions {
  readonly timeout?: string;
  readonly key?: string;
}

export interface Api {
  readonly baseUrl: string;
  readonly token: string;
  get<T = unknown>(path: string): Promise<ApiAnswer<T>>;
  post<T = unknown>(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer<T>>;
  /** Queues a command on localhost and answers the job's id. */
  run(command: readonly string[], options?: RunOptions): Promise<string>;
  job(id: string): Promise<JobJson>;
  /** All events, page by page. */
  events(id: string): Promise<EventJson[]>;
  /** Waits until the job is in one of `states`; without, until it has ended. */
  waitFor(id: string, states?: readonly string[], limitMs?: number): Promise<JobJson>;
}

/** An answer that does not come within this time is a fault by itself. */
const ANSWER_LIMIT_MS = 30_000;
const JOB_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 20;
export const TERMINAL = ['succeeded', 'failed', 'degraded', 'cancelled', 'interrupted'];

export function createApi(webUrl: string, token: string): Api {
  const baseUrl = `${webUrl}/api/v1`;
  const send = async <T>(
    method: string,
    path: string,
    body: unknown,
    extra: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer<T>> => {
    const request = (): Promise<Response> =>
      fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...extra,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(patient(ANSWER_LIMIT_MS)),
      });
    // An emulated machine is too slow to see in time that the server has closed an idle connection, and has a few.
    const mayRepeat = IS_EMULATED && method === 'GET';
    const response = await (mayRepeat ? request().catch(request).catch(request).catch(request) : request());
    const text = await response.text();
    const envelope = (text === '' ? {} : JSON.parse(text)) as { data: T; error?: ApiAnswer<T>['error'] };
    return { status: response.status, text, data: envelope.data, error: envelope.error };
  };
  const job = (id: string): Promise<JobJson> => must(send<JobJson>('GET', `/jobs/${id}`, undefined, {}), 200);
  return {
    baseUrl,
    token,
    get: (path) => send('GET', path, undefined, {}),
    post: (path, body, headers = {}) => send('POST', path, body, headers),
    async run(command, { timeout, key } = {}) {
      const body = { inventory: 'localhost', command, ...(timeout === undefined ? {} : { timeout }) };
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      return (await must(send<{ job_id: string }>('POST', '/commands/run', body, headers), 202)).job_id;
    },
    job,
    async events(id) {
      const all: EventJson[] = [];
      for (;;) {
        const page = await must(
          send<EventJson[]>('GET', `/jobs/${id}/events?since=${all.at(-1)?.seq ?? 0}`, undefined, {}),
          200,
        );
        if (page.length === 0) return all;
        all.push(...page);
      }
    },
    waitFor: (id, states = TERMINAL, limitMs = JOB_LIMIT_MS) =>
      until(
        `job ${id} is ${states.join(' or ')}`,
        async () => {
          const now = await job(id);
          if (states.includes(now.state)) return now;
          // What has ended will not get there: the reason is worth more than a time-out.
          if (TERMINAL.includes(now.state)) throw new Error(`job ${id} is ${now.state}, exit code ${now.exit_code}`);
          return undefined;
        },
        limitMs,
      ),
  };
}

async function must<T>(answer: Promise<ApiAnswer<T>>, status: number): Promise<T> {
  const got = await answer;
  if (got.status !== status) throw new Error(`expected ${status}, got ${got.status}: ${got.text}`);
  return got.data;
}

/**
 * Looks until there is an answer other than undefined or false; fails, saying what it waited for, after `limitMs` of a
 * quick machine.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  limitMs = JOB_LIMIT_MS,
): Promise<NonNullable<Exclude<T, false>>> {
  const time = new MachineTime();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found as NonNullable<Exclude<T, false>>;
    if (time.passed() > limitMs) throw new Error(`waited ${limitMs} ms of a quick machine in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
