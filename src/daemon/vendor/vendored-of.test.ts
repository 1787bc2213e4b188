import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJson } from '../../lib/json.ts';
import type { SourceRow } from '../../store/schema/schema.ts';
import { vendoredOf } from './vendored-of.ts';

const SOURCE: SourceRow = {
  name: 'ops',
  kind: 'dir',
  location: '/srv/ops',
  ref: null,
  commit_id: null,
  synced_at: 1,
  created_at: 1,
  plugins: 0,
  dir_kept: null,
  approve_runs: null,
  except_check: null,
  order_tag: null,
  order_key_id: null,
};
const PATH = '/runs/.vendored/ops/job_x';
const PINNED = toJson({ settings: {} });

function madeAt(ms: number) {
  const counts = { collections: 1, roles: 0, providers: 0 };
  const manifest = { source_created_at: 1, job_id: 'job_x', made_at: ms, requirements: '', ...counts };
  return { find: () => Promise.resolve({ path: PATH, manifest }) };
}

test('T90: files that were vendored after a job was asked for and approved fail its run', async () => {
  const approved = { pinned: PINNED, created_at: 10 };
  assert.equal((await vendoredOf(madeAt(10), approved, SOURCE))?.path, PATH);
  await assert.rejects(
    vendoredOf(madeAt(11), approved, SOURCE),
    /vendored files of source ops were fetched after this job was asked for\. Nothing was run\./,
  );
  const unasked = { pinned: null, created_at: 10 };
  assert.equal((await vendoredOf(madeAt(11), unasked, SOURCE))?.path, PATH);
  const none = { find: () => Promise.resolve(null) };
  assert.equal(await vendoredOf(none, approved, SOURCE), null);
});
