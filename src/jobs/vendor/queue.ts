import { vendorKind } from '../../domain/vendor/kind.ts';
import { vendorKey, type VendorSpec } from '../../domain/vendor/vendor.ts';
import { holdSource } from '../../store/sources/sources.ts';
import { newJob, type Queued, type Queueing, queueJob } from '../queue.ts';

interface VendorRequest extends VendorSpec {
  readonly timeoutMs: number;
}

/** Throws not_found for a source that does not exist. */
export async function queueVendor(
  queueing: Omit<Queueing, 'gate'>,
  { source, timeoutMs }: VendorRequest,
): Promise<Queued> {
  await holdSource(queueing.tx, source);
  const spec: VendorSpec = { source };
  const job = {
    ...newJob(queueing, vendorKind.runbook(spec)),
    kind: 'vendor',
    source,
    workspace: null,
    concurrencyKey: vendorKey(source),
    privileged: false,
    spec: JSON.stringify(spec),
    timeoutMs,
  } as const;
  return queueJob(queueing, job, false);
}
