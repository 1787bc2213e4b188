import { KINDS } from '../domain/kinds.ts';
import { asksForApproval } from '../store/gate/gate.ts';
import type { TagReader } from '../store/engine/tags/tags.ts';
import type { NewJob } from '../store/jobs/jobs.ts';

/** Whether the inventory or the source of an order asks for an approval of it. */
export async function isHeld(
  on: TagReader,
  { kind, source, spec: json }: Pick<NewJob, 'kind' | 'source' | 'spec'>,
): Promise<boolean> {
  const facts = KINDS[kind];
  const spec = facts.readSpec(json);
  const [run, inventory] = [facts.run?.(spec), facts.inventory?.(spec)];
  return run !== undefined && inventory !== undefined && asksForApproval(on, { inventory, source }, run);
}
