import { playbookKind } from '../../domain/playbooks/kind.ts';
import type { PlaybookSpec } from '../../domain/playbooks/playbook.ts';
import { vaultFault } from '../../domain/playbooks/vault.ts';
import { Failure } from '../../domain/failure.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import { requireNode } from '../../store/maintenance/nodes.ts';
import { listProjectSecrets, requireSecrets } from '../../store/secrets/secrets.ts';
import { holdSource } from '../../store/sources/sources.ts';
import { targetHosts } from '../inventories/targets.ts';
import { newJob, type Queued, type Queueing, queueOrAsk } from '../queue.ts';

interface PlaybookRequest {
  readonly spec: PlaybookSpec;
  /** Runs beside other playbooks on the same inventory. */
  readonly parallel: boolean;
  readonly privileged: boolean;
  readonly timeoutMs: number;
  /** The daemon that has to run it. */
  readonly node?: string | undefined;
}

/**
 * Throws not_found for a source, an inventory, a secret or a node that does not exist, and invalid_argument for a limit
 * that selects no host and for a project that cannot be used.
 */
export async function queuePlaybook(
  queueing: Queueing,
  { spec, parallel, privileged, timeoutMs, node }: PlaybookRequest,
): Promise<Queued> {
  const { tx } = queueing;
  const { source, inventory, limit, limitIsOfEvent: isOfEvent, runSecrets, vaultProject } = spec;
  await requireNode(tx.db, node);
  if (source !== null) await holdSource(tx, source);
  await targetHosts(tx.db, { inventory, limit, isOfEvent });
  await requireSecrets(tx.db, runSecrets);
  if (vaultProject !== null) await requireProject(tx, vaultProject);
  const job: NewJob = {
    ...newJob(queueing, playbookKind.runbook(spec)),
    kind: 'playbook',
    source,
    workspace: null,
    concurrencyKey: parallel ? null : `playbook:${inventory}`,
    privileged,
    spec: JSON.stringify(spec),
    timeoutMs,
    node: node ?? null,
  };
  return queueOrAsk(queueing, job);
}

/** Throws invalid_argument for a project that no run can use. */
export async function requireProject(tx: Tx, project: string): Promise<void> {
  const fault = vaultFault(project, await listProjectSecrets(tx.db, project));
  if (fault !== null) throw new Failure('invalid_argument', `vault_project: ${fault}.`);
}
