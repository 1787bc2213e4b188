/** The ids that stand in examples: each is one of a thing that the command can be about. */
import { join } from 'node:path';
import { TERMINAL } from '../support/api-client.ts';
import { backupFor } from './backups/before.ts';
import type { Given } from './given.ts';
import { GATED, type Place } from './place.ts';

/** A public address that no one has: it needs no resolver, and what is sent there arrives nowhere. */
export const UNREACHABLE = '[2e00::1]';

interface Queued {
  readonly job_id: string;
}

/** Makes what an id stands for, in this command. */
type Maker = (given: Given, command: string) => Promise<string>;

async function running({ place }: Given): Promise<string> {
  const order = { inventory: 'localhost', command: ['sleep', '60'] };
  return (await place.call<Queued>('command.run', order)).job_id;
}

async function cancelled(given: Given): Promise<string> {
  const id = await running(given);
  await given.place.call('job.cancel', { id });
  await given.place.fixture.waitFor(id, TERMINAL);
  return id;
}

/** Of the example that ran one: another run takes seconds. */
async function playbookJob({ fixture }: Place): Promise<string> {
  const jobs = fixture.store.db.selectFrom('jobs').select('id').where('kind', '=', 'playbook');
  const { id } = await jobs.where('state', '=', 'succeeded').orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow();
  return id;
}

async function jobFor(given: Given, command: string): Promise<string> {
  if (/job (cancel|notify)/.test(command)) return running(given);
  if (/job redrive/.test(command)) return cancelled(given);
  if (/playbook hosts/.test(command)) return playbookJob(given.place);
  return given.once('job', () => given.ended('command.run', { inventory: 'prod', limit: 'web', command: ['uptime'] }));
}

const GATE = `name: gate
when: event.source == "generic" && event.name == "gate"
approval: required
action:
  command: ["true"]
  inventory: localhost
`;

let gates = 0;

async function approvalFor(given: Given, command: string): Promise<string> {
  const { place } = given;
  if (/approval plan/.test(command)) return planApproval(given);
  if (/approval link/.test(command))
    await given.once('ana', async () => {
      await place.call('token.create', { name: 'of-ana', scope: 'approve', owner: 'ana' });
      return '';
    });
  await place.call('rule.add', { text: GATE, replace: true });
  gates += 1;
  await given.event('generic', { name: 'gate', status: 'firing', fingerprint: `gate-${gates}` });
  return newestApproval(place);
}

async function newestApproval(place: Place): Promise<string> {
  const [approval] = await place.call<{ id: string }[]>('approval.list', { limit: 1 });
  return approval?.id ?? '';
}

/** Of a saved plan that waits. */
async function planApproval(given: Given): Promise<string> {
  const { place } = given;
  const name = GATED;
  const add = { name, dir: join(place.folder, 'net'), approve_when: 'true' };
  const plan = await given.once('gated', async () => {
    await place.call('workspace.add', add);
    return given.ended('workspace.plan', { name });
  });
  const { plan_artifact_id: id } = await place.call<{ plan_artifact_id: string }>('job.get', { id: plan });
  await place.call('workspace.apply', { name, plan: id });
  return newestApproval(place);
}

async function planFor(given: Given): Promise<string> {
  const id = await given.ended('workspace.plan', { name: 'net' });
  return (await given.place.call<{ plan_artifact_id: string }>('job.get', { id })).plan_artifact_id;
}

const FIRING = {
  version: '4',
  alerts: [{ status: 'firing', labels: { alertname: 'DiskFull', instance: 'web1:9100', mountpoint: '/' } }],
};

const HELD = `name: held
steps:
  - {name: ask, approval: required, command: ["true"], inventory: localhost}
`;
const SHORT = 'name: short\nsteps:\n  - {name: only, command: ["true"], inventory: localhost}\n';

async function runFor({ place }: Given, command: string): Promise<string> {
  const text = /workflow cancel/.test(command) ? HELD : SHORT;
  const { name } = await place.call<{ name: string }>('workflow.add', { text, replace: true });
  return (await place.call<{ run_id: string }>('workflow.run', { name })).run_id;
}

export const MAKERS: Readonly<Record<string, Maker>> = {
  job: jobFor,
  apr: approvalFor,
  evt: (given) => given.once('event', () => given.event('alertmanager', FIRING)),
  art: planFor,
  sil: async ({ place }) =>
    (await place.call<{ id: string }>('silence.add', { rule: 'disk-full', for: '1h', reason: 'a test' })).id,
  mute: async ({ place }) =>
    (await place.call<{ id: string }>('mute.add', { scope_kind: 'alert', scope_value: 'Other', for: '1h' })).id,
  bak: backupFor,
  ep: async ({ place }) =>
    (await place.fixture.call<{ id: string }>('notify.endpoint.add', { endpoint: `https://${UNREACHABLE}/x` })).id,
  wfr: runFor,
};
