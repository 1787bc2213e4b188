/** The table of docs/reference/gate.md, row by row: what each way to run something or to decide meets. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { type Caller, localCaller } from '../../../src/domain/access/caller.ts';
import type { NotifyTarget } from '../../../src/domain/notify/target.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { newId } from '../../../src/lib/id.ts';
import { mintLinks } from '../../../src/operations/approvals/approval-links.ts';
import type { LinkHolder } from '../../../src/operations/approvals/link-standing.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { retarget } from '../../../src/store/notify/targets.ts';
import { insertSource } from '../../../src/store/sources/sources.ts';
import { insertWorkspace, moveWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { ask as visit } from '../../support/fixtures/decisions.ts';
import { type HookFixture, openHookFixture, tell } from '../../support/fixtures/hooks.ts';
import { addSchedule, daemon, MINUTE, timeFrom } from '../../support/fixtures/schedules.ts';
import { LINEAGE, makePlan } from '../../support/fixtures/workspaces.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { addDaemon } from '../../store/engine-fixture.ts';

const COMMAND = { inventory: 'prod', command: ['true'] };
const PLAYBOOK = { playbook: 'site.yml', source: 'ops', inventory: 'prod' };
const TARGET: NotifyTarget = { name: 'ops', key: 'a'.repeat(64) };

type Outcome = 'allowed' | 'gated' | 'refused';

/** What a column of the table sets. */
const SETTINGS: Readonly<Record<string, (at: HookFixture) => Promise<unknown>>> = {
  default: () => Promise.resolve(),
  strict: (at) => at.call('gate.strict', { state: 'on' }),
  '`--approve-runs commands`': (at) => at.call('inventory.update', { name: 'prod', approve_runs: 'commands' }),
  '`--approve-runs all`': (at) => at.call('inventory.update', { name: 'prod', approve_runs: 'all' }),
  '`--approve-runs all --except-check`': (at) =>
    at.call('inventory.update', { name: 'prod', approve_runs: 'all', except_check: true }),
};

const FROM_AFAR: Caller = { ...localCaller('ana'), scopes: ['operator'], via: 'api', credential: 'token' };
const FACES: Readonly<Record<string, Caller>> = {
  'on the machine': localCaller('ana'),
  'over the API': FROM_AFAR,
  'in the console': { ...localCaller('ana'), scopes: ['operator'], via: 'web', credential: 'session' },
};

/** What became of the newest job, besides the one of before. */
async function newest({ program }: HookFixture, before: string): Promise<Outcome> {
  const jobs = program.store.db.selectFrom('jobs').select('state').where('id', '!=', before);
  const row = await jobs.orderBy('id', 'desc').limit(1).executeTakeFirst();
  if (row === undefined) return 'refused';
  return row.state === 'awaiting_approval' ? 'gated' : 'allowed';
}

async function ask({ program }: HookFixture, caller: Caller, id: string, raw: object): Promise<void> {
  const operation = OPERATIONS.find((each) => each.id === id) ?? assert.fail(`the table has no ${id}`);
  await invoke({ store: program.store, services: program.services }, operation, { caller, raw });
}

/** What the rule does when its alert comes. */
async function alert(at: HookFixture, action: string): Promise<void> {
  await at.call('rule.add', { name: 'mend', text: `when: event.source == "generic"\naction:\n${action}` });
  await tell(await at.hook('generic'), { name: 'Down', status: 'firing', fingerprint: 'f' });
}

async function decideAs(
  at: HookFixture,
  scope: 'operator' | 'approve',
  credential: 'session' | 'token',
): Promise<void> {
  const { approval } = await gate(at.program.store, { planned: false });
  const caller: Caller = { ...localCaller('ben'), owner: 'ben', scope, scopes: [scope], via: 'web', credential };
  await ask(at, caller, 'approval.decision', { id: approval.id, decision: 'approve' });
}

/** The link of a person who has the scope approve. */
async function decideByOwner(at: HookFixture): Promise<void> {
  await at.program.token('approve', { owner: 'ben' });
  await decideByLink(at, { recipient: 'ben', target: null });
}

async function decideByTarget(at: HookFixture): Promise<void> {
  const { store } = at.program;
  const id = newId('dmn', Date.now());
  await addDaemon(store, id);
  await store.write((tx) => retarget(tx, id, [TARGET]));
  await decideByLink(at, { recipient: 'notify:ops', target: TARGET.key });
}

async function decideByLink({ program, url }: HookFixture, holder: LinkHolder): Promise<void> {
  const { approval } = await gate(program.store, { planned: false });
  const order = { origin: url, approvalId: approval.id, ...holder, madeBy: null };
  const { approve } = await program.store.write((tx) => mintLinks(tx, order));
  assert.equal((await visit(approve, 'POST', {})).status, 200);
}

async function tick(at: HookFixture): Promise<void> {
  const time = timeFrom('2026-01-01T02:59:00Z');
  const action = { kind: 'command', limit: null, timeout: null, ...COMMAND } as const;
  await addSchedule(at.program.store, { action });
  const scheduler = daemon(at.program.store, time);
  await scheduler.sweepOnce();
  time.pass(2 * MINUTE);
  await scheduler.sweepOnce();
}

async function runStep(at: HookFixture, step: string): Promise<void> {
  await at.call('workflow.add', { name: 'mend', text: `steps:\n  - {name: one, ${step}}\n` });
  await at.call('workflow.run', { name: 'mend' });
}

const indented = (line: string) => `  ${line}\n  inventory: prod\n`;
const workspaceOf = (kind: string) => `  ${kind}: net\n`;

/** The ways of the table. Each throws a Failure where it is refused; else the newest job says the rest. */
const WAYS: Readonly<Record<string, (at: HookFixture) => Promise<unknown>>> = {
  ...Object.fromEntries(
    Object.entries(FACES).flatMap(([where, caller]) => [
      [`a command, ${where}`, (at: HookFixture) => ask(at, caller, 'command.run', COMMAND)],
      [`a playbook, ${where}`, (at: HookFixture) => ask(at, caller, 'playbook.run', PLAYBOOK)],
    ]),
  ),
  'a playbook in check mode': (at) => at.call('playbook.run', { ...PLAYBOOK, check: true }),
  'a command with `--privileged`': (at) => at.call('command.run', { ...COMMAND, privileged: true }),
  'a command of a rule': (at) => alert(at, indented('command: ["true"]')),
  'a playbook of a rule': (at) => alert(at, indented('playbook: site.yml\n  source: ops')),
  'a command of a schedule': tick,
  'a command of a workflow step': (at) => runStep(at, 'command: ["true"], inventory: prod'),
  'a playbook of a workflow step': (at) => runStep(at, 'playbook: site.yml, source: ops, inventory: prod'),
  'a rerun of a command': async (at) => at.call('job.rerun', { id: await oldJob(at) }),
  'a redrive of a command': async (at) => at.call('job.redrive', { ids: [await oldJob(at)] }),
  'rules in a configuration file, over the API': (at) => ask(at, FROM_AFAR, 'config.apply', { text: RULES_FILE }),
  'a directory in a configuration file, over the API': (at) => ask(at, FROM_AFAR, 'config.apply', { text: DIR_FILE }),
  'an apply without a saved plan': (at) => at.call('workspace.apply', { name: 'net' }),
  'a destroy': (at) => at.call('workspace.destroy', { name: 'net' }),
  'an apply of a rule': (at) => alert(at, workspaceOf('apply')),
  'a destroy of a rule': (at) => alert(at, workspaceOf('destroy')),
  'a plan': (at) => at.call('workspace.plan', { name: 'net' }),
  'a plan, by an agent': (at) => ask(at, AGENT, 'workspace.plan', { name: 'net' }),
  'an apply without a saved plan, by an agent': (at) => ask(at, AGENT, 'workspace.apply', { name: 'net' }),
  'an apply of a saved plan': savedPlan,
  'a command of a host request': hostRequest,
};

const AGENT: Caller = { ...FROM_AFAR, via: 'mcp', agent: { only: null } };

async function savedPlan(at: HookFixture): Promise<void> {
  await at.program.store.write((tx) =>
    moveWorkspace(tx, 'net', { serial: 3, lineage: LINEAGE, byJob: null, via: null }),
  );
  const plan = await makePlan(at.program, 'net', 'clean', { destroys: 0 });
  await at.call('workspace.apply', { name: 'net', plan });
}

async function hostRequest(at: HookFixture): Promise<void> {
  const action = indented('command: ["true"]');
  await at.call('rule.add', { name: 'mend', text: `when: event.source == "host"\naction:\n${action}` });
  const host: Caller = { ...FROM_AFAR, name: 'web1', owner: 'web1', scope: 'host', scopes: ['host'] };
  await ask(at, host, 'host.request', { request: 'patch' });
}

const RULES_FILE = 'rules:\n  - {name: a, when: "false", action: {notify: hello}}\n';
const CHECKS_FILE = 'checks:\n  - {name: a, kind: tcp, interval: 1m, targets: ["a=127.0.0.1:80"]}\n';
const DIR_FILE = 'sources:\n  - {name: a, dir: /tmp}\n';

/** A file whose changes are there when it is answered. */
async function applied({ program }: HookFixture, caller: Caller, text: string): Promise<void> {
  const operation = OPERATIONS.find(({ id }) => id === 'config.apply') ?? assert.fail();
  const answer = await invoke({ store: program.store, services: program.services }, operation, {
    caller,
    raw: { text },
  });
  assert.ok(answer.shape === 'body' && answer.kind === 'config.applied');
}

/** The ways to decide and to get a credential: each throws a Failure where it is refused. */
const OTHERS: Readonly<Record<string, (at: HookFixture) => Promise<unknown>>> = {
  'a decision in the console with the scope approve': (at) => decideAs(at, 'approve', 'session'),
  'a decision in the console with the scope operator': (at) => decideAs(at, 'operator', 'session'),
  'a configuration file, on the machine': (at) => applied(at, localCaller('ana'), RULES_FILE),
  'checks in a configuration file, over the API': (at) => applied(at, FROM_AFAR, CHECKS_FILE),
  'a decision by a token of a program': (at) => decideAs(at, 'operator', 'token'),
  'a decision by the link of a person': decideByOwner,
  'a decision by the link of a notification target': decideByTarget,
  'a token that never expires': (at) => at.call('token.create', { name: 'new', scope: 'readonly' }),
  'a token for 90 days': (at) => at.call('token.create', { name: 'new', scope: 'readonly', expires: '90d' }),
};

const isRefusal = (error: unknown): boolean => error instanceof Failure;

/** The job of before the setting. */
function oldJob({ program }: HookFixture): Promise<string> {
  const old = program.store.db.selectFrom('jobs').select('id').where('state', '=', 'cancelled');
  return old.executeTakeFirstOrThrow().then(({ id }) => id);
}

async function outcomeOf(t: TestContext, way: string, setting: string): Promise<Outcome> {
  const at = await openHookFixture(t);
  const git = { name: 'ops', kind: 'git', location: 'ssh://git@127.0.0.1:1/ops', ref: 'main' } as const;
  await at.program.store.write(async (tx) => {
    await insertSource(tx, { ...git, commit_id: 'c'.repeat(40), synced_at: 1, created_at: 1 });
    await insertWorkspace(tx, workspaceRow('net'));
  });
  await at.call('inventory.add', { name: 'prod', text: 'web1 ansible_connection=local\n' });
  const { job_id: id }: { job_id: string } = await at.call('command.run', COMMAND);
  await at.call('job.cancel', { id });
  await SETTINGS[setting]?.(at);
  const other = OTHERS[way];
  try {
    await (other ?? WAYS[way])?.(at);
  } catch (error) {
    if (isRefusal(error)) return 'refused';
    throw error;
  }
  return other === undefined ? newest(at, id) : 'allowed';
}

const lines = readFileSync(new URL('../../../docs/reference/gate.md', import.meta.url), 'utf8').split('\n');
const [head = [], , ...rows] = lines
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const settings = head.slice(1);

test('The table has each way and each setting, once', () => {
  assert.deepEqual(settings.toSorted(), Object.keys(SETTINGS).toSorted());
  const named = rows.map(([way = '']) => way);
  assert.deepEqual(named.toSorted(), [...Object.keys(WAYS), ...Object.keys(OTHERS)].toSorted());
});

describe('The gate lets through, holds and refuses', () => {
  for (const [way = '', ...cells] of rows)
    test(way, async (t) => {
      const met: string[] = [];
      for (const setting of settings) met.push(await outcomeOf(t, way, setting));
      assert.deepEqual(met, cells);
    });
});
