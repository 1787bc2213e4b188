import type { CommandSpec } from '../../domain/commands/command.ts';
import { givenReveal } from '../../domain/actions/reveal.ts';
import { LOCALHOST } from '../../domain/inventories/inventory.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import { requireNode } from '../../store/maintenance/nodes.ts';
import { requireReachable } from '../inventories/targets.ts';
import { newJob, type Queued, type Queueing, queueOrAsk } from '../queue.ts';

/** What is run of it, and how. */
interface CommandRequest extends CommandSpec {
  readonly privileged: boolean;
  readonly timeoutMs: number;
  /** The daemon that has to run it. */
  readonly node?: string | undefined;
}

/** Throws not_found for an inventory or a node, and invalid_argument for a limit that name nothing. */
export async function queueCommand(queueing: Queueing, request: CommandRequest): Promise<Queued> {
  const { db } = queueing.tx;
  const { inventory, limit, isOfEvent, command, egressPorts, writable = [], privileged, timeoutMs, node } = request;
  await requireNode(db, node);
  await requireReachable(db, request);
  const ofEvent = isOfEvent === true && inventory !== LOCALHOST ? { isOfEvent } : {};
  const outside = writable.length > 0 ? { writable } : {};
  const spec: CommandSpec = { inventory, limit, ...ofEvent, command, ...givenReveal(request), egressPorts, ...outside };
  const job: NewJob = {
    ...newJob(queueing, commandKind.runbook(spec)),
    kind: 'command',
    source: null,
    workspace: null,
    concurrencyKey: null,
    privileged,
    spec: JSON.stringify(spec),
    timeoutMs,
    node: node ?? null,
  };
  return queueOrAsk(queueing, job);
}
