/** The state that the service keeps of a workspace, opened. */
import { stateLabel } from '../../../src/store/secrets/seal.ts';
import { newestState } from '../../../src/store/workspaces/states.ts';
import type { Fixture } from '../fixtures/installation.ts';

export interface KeptState {
  readonly version: number;
  readonly serial: number;
  /** The job that wrote it. */
  readonly jobId: string | null;
  /** `name`, or `name[0]`, with whether the next plan would replace it. */
  readonly resources: ReadonlyMap<string, { readonly tainted: boolean }>;
}

interface StateJson {
  readonly serial: number;
  readonly resources: readonly {
    readonly name: string;
    readonly instances: readonly { readonly index_key?: number; readonly status?: string }[];
  }[];
}

/** Null before the first. Throws SealBroken for one that does not open. */
export async function keptState(
  fixture: Pick<Fixture, 'store' | 'services'>,
  workspace: string,
): Promise<KeptState | null> {
  const row = await newestState(fixture.store.db, workspace);
  if (row === undefined) return null;
  const ring = await fixture.services.keyring();
  const text = Buffer.from(ring.open(stateLabel(row), row.sealed)).toString('utf8');
  const state = JSON.parse(text) as StateJson;
  const all = state.resources.flatMap(({ name, instances }) =>
    instances.map(
      ({ index_key: key, status }) =>
        [key === undefined ? name : `${name}[${key}]`, { tainted: status === 'tainted' }] as const,
    ),
  );
  return { version: row.version, serial: state.serial, jobId: row.job_id, resources: new Map(all) };
}
