/** Saved plans and states of a workspace, as a run keeps them. */
import { newId } from '../../src/lib/id.ts';
import type { ArtifactRow } from '../../src/store/schema.ts';
import type { NewState } from '../../src/store/states.ts';

export function artifact(some: Partial<ArtifactRow> = {}): Omit<ArtifactRow, 'created_at' | 'consumed_by'> {
  return {
    id: newId('art', Date.now()),
    workspace: 'net',
    job_id: 'job_plan',
    serial: 3,
    lineage: 'l',
    tree_digest: 'd',
    needs_init: 0,
    own_backend: 0,
    secrets: '{}',
    verdict: 'clean',
    verdict_reason: null,
    destroys: 0,
    changes: 1,
    creates: 2,
    summary: '1 to change, 2 to create',
    sealed: Buffer.from([0, 255, 1]),
    digest: 'abc',
    sealed_view: Buffer.from([9, 0, 9]),
    key_id: 'k',
    ...some,
  };
}

export function state(some: Partial<NewState> = {}): NewState {
  return {
    workspace: 'net',
    serial: 1,
    lineage: 'l',
    resources: 2,
    jobId: null,
    keyId: 'k',
    aside: false,
    seal: (version) => Buffer.from([version & 255, 0]),
    ...some,
  };
}
