import { backupKind } from '../backups/kind.ts';
import { commandKind } from '../commands/kind.ts';
import { LOCALHOST } from '../inventories/inventory.ts';
import { playbookKind } from '../playbooks/kind.ts';
import { vendorKind } from '../vendor/kind.ts';
import { WORKSPACE_ROWS } from '../workspaces/kinds.ts';
import { JOB_KINDS, type JobKind } from './job.ts';
import type { KindFacts } from './kind.ts';

/** Every kind of job; the row of each belongs to its area. See docs/contributing/add-a-job-kind.md. */
export const KINDS: Readonly<Record<JobKind, KindFacts<unknown>>> = {
  ...WORKSPACE_ROWS,
  command: commandKind,
  playbook: playbookKind,
  backup: backupKind,
  vendor: vendorKind,
};

/** The stored inventory that an order names; null without one, and for the machine of the daemon. */
export function inventoryIn({ kind, spec }: { readonly kind: JobKind; readonly spec: string }): string | null {
  const facts = KINDS[kind];
  const name = facts.inventory?.(facts.readSpec(spec)) ?? null;
  return name === LOCALHOST ? null : name;
}

/** The kinds whose runs make a saved plan. */
export const PLAN_MAKERS: readonly JobKind[] = JOB_KINDS.filter((kind) => KINDS[kind].makesPlan);
