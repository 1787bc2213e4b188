import { backupKind } from './backups/kind.ts';
import { commandKind } from './commands/kind.ts';
import { configKind } from './config-order/kind.ts';
import { LOCALHOST } from './inventories/inventory.ts';
import { playbookKind } from './playbooks/kind.ts';
import { vendorKind } from './vendor/kind.ts';
import { WORKSPACE_ROWS } from './workspaces/kinds.ts';
import { JOB_KINDS, type JobKind } from './jobs/job.ts';
import type { KindFacts } from './jobs/kind.ts';

/** Every kind of job; the row of each belongs to its area. See docs/contributing/add-a-job-kind.md. */
export const KINDS: Readonly<Record<JobKind, KindFacts<unknown>>> = {
  ...WORKSPACE_ROWS,
  command: commandKind,
  playbook: playbookKind,
  backup: backupKind,
  vendor: vendorKind,
  config: configKind,
};

/**
 * The stored inventory that an order names; null without one, for the machine of the daemon, and for a row that cannot
 * be read. Such a row was not written by this service, and nothing runs from it.
 */
export function inventoryIn({ kind, spec }: { readonly kind: string; readonly spec: string }): string | null {
  const facts = Object.hasOwn(KINDS, kind) ? KINDS[kind as JobKind] : undefined;
  try {
    const name = facts?.inventory?.(facts.readSpec(spec)) ?? null;
    return name === LOCALHOST ? null : name;
  } catch {
    return null;
  }
}

/** The kinds whose runs make a saved plan. */
export const PLAN_MAKERS: readonly JobKind[] = JOB_KINDS.filter((kind) => KINDS[kind].makesPlan);
