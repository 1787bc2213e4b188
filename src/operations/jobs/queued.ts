import type { Queued, Queueing } from '../../jobs/queue.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { WriteContext } from '../core/operation.ts';
import { reply, type Reply, written, type Written } from '../core/reply.ts';

/** A request makes jobs for its caller; `summary` says what the job does. */
export function queueingOf({ tx, services, caller, because }: WriteContext, summary?: string): Queueing {
  const { via, name, owner } = caller;
  const asker = { trigger: via, requestedBy: name, owners: [owner], because, summary };
  return { tx, deps: services, asker, gate: null };
}

/** What a request leaves that has made a job; `detail` is for the ledger. */
export function writtenJob(queued: Queued, detail: Readonly<Record<string, unknown>>): Written {
  return written(queuedReply(queued), queued.jobId, detail);
}

/** The answer to a request that queues a job or asks for an approval first. */
function queuedReply(queued: Queued): Reply {
  if (queued.state === 'queued') return reply('job.enqueued', { job_id: queued.jobId, state: 'queued' });
  const { id, expires_at: expiresAt, created_at: createdAt, policy, plan_artifact_id: artifact } = queued.approval;
  return reply('approval.pending', {
    approval_id: id,
    job_id: queued.jobId,
    state: 'awaiting_approval',
    expires_at: rfc3339(expiresAt),
    ttl_seconds: Math.round((expiresAt - createdAt) / 1000),
    policy,
    plan_artifact_id: artifact,
    ...(queued.missing.length === 0 ? {} : { missing_scopes: [...queued.missing] }),
  });
}

/** For the ledger: neither a policy nor a person looks at an ungated run. */
export function ungatedDetail(queued: Queued): { readonly ungated?: true } {
  return queued.state === 'queued' && queued.ungated ? { ungated: true } : {};
}
