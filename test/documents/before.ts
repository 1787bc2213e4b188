/** What the reader did before a command: the state of the place that the command is about. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateLabel } from '../../src/store/secrets/seal.ts';
import { keepState } from '../../src/store/workspaces/states.ts';
import { TERMINAL, until } from '../support/api-client.ts';
import { KEY, STATE } from './files.ts';
import type { Given } from './given.ts';
import { BEFORE_RESTORE } from './backups/before.ts';
import { remove } from './place.ts';
import { BEFORE_VENDOR } from './vendor/before.ts';

/** The versions 1 to 3 of the state, and one that a run left aside. */
async function states({ place }: Given): Promise<void> {
  const { store, services } = place.fixture;
  const versions = await place.call<{ version: number }[]>('workspace.state', { name: 'net' });
  for (let at = versions.filter(({ version }) => version > 0).length; at < 3; at += 1)
    await place.svc('svc workspace restore net --file net.tfstate --yes');
  if (versions.some(({ version }) => version < 0)) return;
  const ring = await services.keyring();
  const bytes = readFileSync(join(place.folder, 'net.tfstate'));
  const some = { workspace: 'net', serial: 9, lineage: STATE.lineage };
  await store.write((tx) =>
    keepState(tx, {
      ...some,
      resources: 0,
      jobId: 'job_left',
      keyId: ring.activeId,
      aside: true,
      seal: (version) => ring.seal(stateLabel({ ...some, version }), bytes),
    }),
  );
}

async function endedRun({ place }: Given): Promise<void> {
  const name = 'patch-and-check';
  const { run_id: run } = await place.call<{ run_id: string }>('workflow.run', { name });
  await until('the run has ended', async () => {
    const { state } = await place.call<{ state: string }>('workflow.status', { run });
    return TERMINAL.includes(state);
  });
}

/** A reader has exported the configuration before. */
async function exported({ place }: Given): Promise<void> {
  if (!existsSync(join(place.folder, 'gatehouse.yaml'))) await place.svc('svc config export > gatehouse.yaml');
}

let builds = 0;

/** What the reader did before such a command. */
const BEFORE: readonly (readonly [command: RegExp, (given: Given) => unknown])[] = [
  [/workspace (export|restore) .*(--to|--version)/, states],
  [/workspace export/, ({ place }) => rmSync(join(place.folder, 'net.tfstate'), { force: true })],
  [/workflow run .*--from/, endedRun],
  [/readiness .*--wait/, ({ place }) => place.call('maintenance.cordon', { node: 'web1' })],
  [/doctor --ledger-head/, ({ place }) => place.svc('svc audit head > heads.txt')],
  [/maintenance restart /, ({ place }) => place.program.install(`0.1.0-next-${(builds += 1)}`)],
  BEFORE_VENDOR,
  // A rule that names it is in the way.
  [/^svc inventory remove/, ({ place }) => remove(place, 'rule', 'disk-full')],
  [/config (diff|apply) --file gatehouse/, exported],
  [/restore .*--file net/, ({ place }) => writeFileSync(join(place.folder, 'net.tfstate'), JSON.stringify(STATE))],
  [/seal export \S+\.key/, ({ place }) => rmSync(join(place.root, KEY), { force: true })],
  BEFORE_RESTORE,
];

export async function before(given: Given, command: string): Promise<void> {
  for (const [pattern, act] of BEFORE) if (pattern.test(command)) await act(given);
}
