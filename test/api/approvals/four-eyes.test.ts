/** The requester cannot decide, by any detour (T28). */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { localCaller } from '../../../src/domain/access/caller.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { decideByLink } from '../../../src/operations/approvals/decision-page.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { tagOf } from '../../../src/store/engine/tags/tags.ts';
import { getApproval } from '../../../src/store/approvals/approvals.ts';
import { insertLinks } from '../../../src/store/approvals/decision-links.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { auditOf, gated, type MadeApproval } from '../../support/fixtures/approvals.ts';
import { type Program, startProgram } from '../../support/program.ts';

const ME = 'mia';

/** What a way round is tried with. */
interface Scene {
  readonly program: Program;
  readonly apr: string;
  readonly job: string;
}

interface Detour {
  readonly way: string;
  readonly asked?: MadeApproval;
  /** Answers the code that it is refused with. */
  try(scene: Scene): Promise<string>;
  /** Whether a refused decision must stand in the ledger: not where no decision is reached at all. */
  readonly isAudited: boolean;
}

async function decideAs(program: Program, apr: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(`${program.url}/api/v1/approvals/${apr}/decision`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"decision":"approve"}',
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return error?.code ?? `status ${response.status}`;
}

async function decideWith(program: Program, apr: string, token: string): Promise<string> {
  return decideAs(program, apr, { authorization: `Bearer ${token}` });
}

async function locally(program: Program, user: string, operation: string, raw: object): Promise<string> {
  const row = OPERATIONS.find(({ id }) => id === operation);
  assert.ok(row !== undefined);
  try {
    const answer = await invoke(program, row, { caller: localCaller(user), raw });
    return answer.shape === 'body' ? JSON.stringify(answer.data) : answer.shape;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

const DETOURS: readonly Detour[] = [
  {
    way: 'a second token of the same owner',
    isAudited: true,
    try: async ({ program, apr }) =>
      decideWith(program, apr, await program.token('approve', { name: 'phone', owner: ME })),
  },
  {
    way: 'a token made after the request',
    isAudited: true,
    async try({ program, apr }) {
      const old = await program.token('approve', { name: 'old', owner: ME });
      await program.revoke(old);
      return decideWith(program, apr, await program.token('approve', { name: 'new', owner: ME }));
    },
  },
  {
    way: 'a browser session of such a token',
    isAudited: false,
    try: async ({ program, apr }) =>
      decideAs(program, apr, { cookie: await program.session(await program.token('approve', { owner: ME })) }),
  },
  {
    way: 'a rule, a schedule or a host request that somebody else brought about',
    isAudited: true,
    asked: { requestedBy: 'rule', owners: ['web-1', ME, 'rule'], origin: 'alert' },
    try: async ({ program, apr }) => decideWith(program, apr, await program.token('approve', { owner: ME })),
  },
  {
    way: 'the local command line, asked and decided there',
    isAudited: true,
    asked: { requestedBy: `local:${ME}` },
    try: ({ program, apr }) => locally(program, ME, 'approval.decision', { id: apr, decision: 'approve' }),
  },
  {
    way: 'a redrive of the job, once it was refused',
    isAudited: false,
    async try({ program, apr, job }) {
      const other = await program.token('approve', { owner: 'ana' });
      const response = await fetch(`${program.url}/api/v1/approvals/${apr}/decision`, {
        method: 'POST',
        headers: { authorization: `Bearer ${other}`, 'content-type': 'application/json' },
        body: '{"decision":"reject"}',
      });
      assert.equal(response.status, 200);
      assert.equal(await locally(program, ME, 'job.redrive', { state: ['cancelled', 'interrupted'] }), '[]');
      assert.equal((await getJob(program.store.db, job)).state, 'cancelled');
      return 'nothing to redrive';
    },
  },
  {
    way: 'a link for oneself',
    isAudited: false,
    try: ({ program, apr }) => locally(program, 'ops', 'approval.link', { id: apr, recipient: ME }),
  },
  {
    way: 'a link for somebody else, made by oneself',
    isAudited: false,
    asked: { requestedBy: `local:${ME}` },
    try: ({ program, apr }) => locally(program, ME, 'approval.link', { id: apr, recipient: 'ana' }),
  },
  {
    way: "a link in one's own name that somebody put into the store",
    isAudited: true,
    async try({ program, apr }) {
      const { approve } = await program.store.write((tx) =>
        insertLinks(tx, { approvalId: apr, recipient: ME, target: null, madeBy: 'ops' }),
      );
      return (await decideByLink(program, { approvalId: apr, decision: 'approve', token: approve }, {})).show;
    },
  },
];

const REFUSALS = ['forbidden', 'own', 'nothing to redrive'];

async function sceneOf(t: TestContext, asked: MadeApproval = {}): Promise<Scene> {
  const program = await startProgram(t);
  return { program, ...(await gated(program, { requestedBy: ME, ...asked })) };
}

for (const detour of DETOURS) {
  const { asked, isAudited } = detour;
  test(`T28: The requester cannot decide by ${detour.way}; a third person can`, async (t) => {
    const scene = await sceneOf(t, asked);
    const { program, apr, job } = scene;
    const result = await detour.try(scene);
    assert.ok(REFUSALS.includes(result), result);
    const refused = (await auditOf(program.store, apr)).filter(({ operation }) => operation === 'approval.refused');
    assert.equal(refused.length, isAudited ? 1 : 0);
    if (result === 'nothing to redrive') return;
    assert.deepEqual(
      [(await getApproval(program.store.db, apr)).state, (await getJob(program.store.db, job)).state],
      ['pending', 'awaiting_approval'],
    );
    assert.equal(await decideWith(program, apr, await program.token('approve', { owner: 'third' })), 'status 200');
    assert.equal((await getJob(program.store.db, job)).state, 'queued');
  });
}

test('T28: A redrive runs an interrupted plan run again, but no interrupted apply of a saved plan', async (t) => {
  const { program } = await sceneOf(t, { workspace: 'net' });
  const rows = await program.store.db.selectFrom('jobs').selectAll().execute();
  const [row] = rows;
  assert.ok(row !== undefined);
  const ended = { ...row, state: 'interrupted', initial_state: 'queued', concurrency_key: null } as const;
  await program.store.write(async ({ db, ring }) => {
    const insert = (job: typeof row): Promise<unknown> =>
      db
        .insertInto('jobs')
        .values({ ...job, ...tagOf(ring, 'jobs', job) })
        .execute();
    await insert({ ...ended, id: 'job_00000000000000000000000001' });
    await insert({ ...ended, id: 'job_00000000000000000000000002', kind: 'plan', plan_artifact_id: null });
  });
  const result = JSON.parse(await locally(program, 'zoe', 'job.redrive', {})) as {
    old_job_id: string;
    new_job_id: string;
  }[];
  assert.deepEqual(
    result.map(({ old_job_id: old }) => old),
    ['job_00000000000000000000000002'],
  );
  const made = await getJob(program.store.db, result[0]?.new_job_id ?? '');
  assert.deepEqual(JSON.parse(made.owners), [ME, 'local:zoe'], 'the chain keeps the first requester');
});

test('T29: A redrive bypasses no switch: an apply or destroy that is now refused stays ended', async (t) => {
  const { program } = await sceneOf(t, { workspace: 'net' });
  const [row] = await program.store.db.selectFrom('jobs').selectAll().execute();
  assert.ok(row !== undefined);
  const ended = {
    ...row,
    state: 'interrupted',
    initial_state: 'queued',
    concurrency_key: null,
    plan_artifact_id: null,
  } as const;
  await program.store.write(async ({ db, ring }) => {
    const insert = (job: typeof row): Promise<unknown> =>
      db
        .insertInto('jobs')
        .values({ ...job, ...tagOf(ring, 'jobs', job) })
        .execute();
    await insert({ ...ended, id: 'job_00000000000000000000000001', kind: 'apply' });
    await insert({ ...ended, id: 'job_00000000000000000000000002', kind: 'destroy' });
  });
  type Pair = { old_job_id: string; new_job_id: string | null; skipped?: string };
  const dryRun = async (): Promise<Pair[]> =>
    JSON.parse(await locally(program, 'zoe', 'job.redrive', { dry_run: true })) as Pair[];
  const redriven = async (): Promise<string[]> =>
    (await dryRun()).filter(({ skipped }) => skipped === undefined).map((pair) => pair.old_job_id);
  assert.equal((await redriven()).length, 2);
  const switches = (require_saved_plan: 0 | 1, protect_destroy: 0 | 1): Promise<unknown> =>
    program.store.write(({ db }) =>
      db.updateTable('workspaces').set({ require_saved_plan, protect_destroy }).where('name', '=', 'net').execute(),
    );
  await switches(1, 0);
  assert.deepEqual(await redriven(), ['job_00000000000000000000000002']);
  await switches(0, 1);
  assert.deepEqual(await redriven(), ['job_00000000000000000000000001']);
  await switches(1, 1);
  assert.deepEqual(await redriven(), []);
  assert.deepEqual(
    (await dryRun()).map(({ skipped }) => skipped),
    ['workspace net requires a saved plan: require_saved_plan', 'workspace net is protected: protect_destroy'],
  );
  const redriveOne = (): Promise<string> =>
    locally(program, 'zoe', 'job.redrive', { ids: ['job_00000000000000000000000002'] });
  assert.equal(await redriveOne(), 'conflict');
  await switches(0, 0);
  const [{ new_job_id: made }] = JSON.parse(await redriveOne()) as [Pair];
  const marked = await program.store.db
    .selectFrom('ledger')
    .select(['target', 'detail'])
    .where('operation', '=', 'job.redriven')
    .execute();
  assert.deepEqual(
    marked.map(({ target, detail }) => [target, JSON.parse(detail)]),
    [[made, { redrive_of: 'job_00000000000000000000000002', ungated: true }]],
    'an ungated destroy stays marked',
  );
});

test('T26: decisions about two approvals with one key are two requests', async (t) => {
  const program = await startProgram(t);
  const [first, second] = [await gated(program, { workspace: 'one' }), await gated(program, { workspace: 'two' })];
  const decide = async (apr: string, decision: string): Promise<{ approval_id: string; state: string }> => {
    const response = await fetch(`${program.url}/api/v1/approvals/${apr}/decision`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${program.tokens.approve}`,
        'content-type': 'application/json',
        'idempotency-key': 'd1',
      },
      body: JSON.stringify({ decision }),
    });
    return ((await response.json()) as { data: { approval_id: string; state: string } }).data;
  };
  assert.equal((await decide(first.apr, 'approve')).state, 'approved');
  assert.deepEqual({ ...(await decide(second.apr, 'reject')) }.state, 'rejected');
  // The same about the same is a repeat.
  assert.equal((await decide(first.apr, 'approve')).approval_id, first.apr);
});
