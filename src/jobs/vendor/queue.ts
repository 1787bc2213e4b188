import { vendorKind } from '../../domain/vendor/kind.ts';
import { vendorKey, type VendorSpec } from '../../domain/vendor/vendor.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { holdSource } from '../../store/sources/sources.ts';
import { type Asker, newJob, type QueueDeps, type Queued, queueJob } from '../queue.ts';

interface VendorRequest extends VendorSpec {
  readonly timeoutMs: number;
}

/** Throws not_found for a source that does not exist. */
export async function queueVendor(
  tx: Tx,
  deps: QueueDeps,
  asker: Asker,
  { source, timeoutMs }: VendorRequest,
): Promise<Queued> {
  await holdSource(tx, source);
  const spec: VendorSpec = { source };
  const job = {
    ...newJob(tx, asker, vendorKind.runbook(spec)),
    kind: 'vendor',
    source,
    workspace: null,
    concurrencyKey: vendorKey(source),
    privileged: false,
    spec: JSON.stringify(spec),
    timeoutMs,
  } as const;
  return queueJob(tx, deps, job, false);
}
