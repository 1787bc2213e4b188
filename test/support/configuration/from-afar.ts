/** Configuration files over the API, and the run of what was approved. */
import type { TestContext } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { type Program, type ProgramOptions, startProgram } from '../program.ts';
import { scene, type Scene, until } from '../store/work-scene.ts';

export const CHECKS = `set: team
netgroups:
  - {name: dc, prefixes: [10.0.0.0/8]}
checks:
  - {name: web, kind: tcp, interval: 1m, targets: ["a=127.0.0.1:80"]}
`;
export const rules = (word: string, count = 1) =>
  `set: team\nrules:\n${Array.from(
    { length: count },
    (_, i) => `  - {name: rule-${i}, when: event.name == "${word}", action: {command: ["df"], inventory: localhost}}\n`,
  ).join('')}`;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly kind: string;
  readonly data: { readonly approval_id: string; readonly job_id: string };
}

export async function send(
  program: Program,
  path: string,
  body: object,
  token = program.tokens.operator,
  key?: string,
): Promise<Answer> {
  const keyed = key === undefined ? {} : { 'idempotency-key': key };
  const response = await fetch(`${program.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...keyed },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, ...(JSON.parse(text) as Pick<Answer, 'kind' | 'data'>) };
}

export const ask = (program: Program, text: string, some: object = {}, token?: string, key?: string): Promise<Answer> =>
  send(program, '/config/apply', { text, ...some }, token, key);

/** As another person than who asked. */
export const decide = (
  program: Program,
  { data: { approval_id: id } }: Answer,
  decision = 'approve',
): Promise<Answer> => send(program, `/approvals/${id}/decision`, { decision }, program.tokens.approve);

export async function order(program: Program, { data: { job_id: id } }: Answer): Promise<Projected<'order'>> {
  const headers = { authorization: `Bearer ${program.tokens.approve}` };
  const response = await fetch(`${program.url}/api/v1/jobs/${id}/order`, { headers });
  return ((await response.json()) as { data: Projected<'order'> }).data;
}

interface At {
  readonly program: Program;
  readonly on: Scene;
  /** Runs the job to its end, and answers how it ended. */
  readonly run: (asked: Answer) => Promise<string>;
}

export async function start(t: TestContext, options: ProgramOptions = {}): Promise<At> {
  const program = await startProgram(t, options);
  const on = await scene(t, { store: program.store, services: program.services });
  const run = async ({ data: { job_id: id } }: Answer): Promise<string> => {
    await on.work.claimOnce();
    await until(() => on.work.running === 0);
    const { state, reason } = await on.row(id);
    return reason === null ? state : `${state}: ${reason}`;
  };
  return { program, on, run };
}

export async function names({ store }: Program): Promise<string[]> {
  const rows = await store.db.selectFrom('rules').select('name').orderBy('name').execute();
  return rows.map(({ name }) => name);
}
