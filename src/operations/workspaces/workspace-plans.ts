import * as z from 'zod';
import { READERS } from '../../domain/access/scope.ts';
import { hasMoved } from '../../domain/workspaces/plan.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { listArtifacts } from '../../store/workspaces/artifacts.ts';
import { getWorkspace } from '../../store/workspaces/workspaces.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation } from '../core/operation.ts';
import { reply } from '../core/reply.ts';

const plans = readOperation({
  id: 'workspace.plans',
  summary: 'List the saved plans of a workspace, and which of them can still be applied',
  scopes: READERS,
  ...localOnly('The job of a plan and its approval name the plan.'),
  cli: { verb: 'workspace plans', positionals: ['name'], examples: ['svc workspace plans net'] },
  input: z.strictObject({ name: field.name }),
  answers: ['workspace.plans'],
  failures: ['not_found'],
  async run({ store: { db } }, { name }) {
    const workspace = await getWorkspace(db, name);
    const all = await listArtifacts(db, name);
    return reply(
      'workspace.plans',
      all.map((plan) => ({
        id: plan.id,
        serial: plan.serial,
        use: plan.consumed_by !== null ? 'used' : hasMoved(plan, workspace) ? 'stale' : 'open',
        used_by: plan.consumed_by,
        verdict: plan.verdict,
        destroys: plan.destroys,
        changes: plan.changes,
        creates: plan.creates,
        job_id: plan.job_id,
        created_at: rfc3339(plan.created_at),
        summary: plan.summary,
      })),
    );
  },
});

export const WORKSPACE_PLAN_OPERATIONS = [plans];
