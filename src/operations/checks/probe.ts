import * as z from 'zod';
import type { ProbeResult } from '../../probes/probe.ts';
import { READERS } from '../../domain/access/scope.ts';
import { addressOfTarget } from '../../domain/checks/kinds.ts';
import { Failure } from '../../domain/failure.ts';
import type { NetgroupIndex } from '../../domain/netgroups/netgroup.ts';
import { fromJson } from '../../lib/json.ts';
import { getCheck } from '../../store/checks/checks.ts';
import { listProbed, openTarget, type ProbedTarget } from '../../store/checks/targets.ts';
import type { CheckRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { readOperation } from '../core/operation.ts';
import { reply } from '../core/reply.ts';
import type { ProbeOrder } from './services.ts';
import type { ViewData } from '../../views/views.ts';

function resultView(
  { kind }: CheckRow,
  netgroups: NetgroupIndex,
  { name, spec }: ProbedTarget,
  { up, durationMs, detail }: ProbeResult,
): ViewData<'check.probe'>['targets'][number] {
  const address = addressOfTarget(kind, spec);
  const netgroup = address === null ? null : netgroups.classify(address);
  return { target: name, up, duration_ms: durationMs, netgroup, detail };
}

export const probeOperation = readOperation({
  id: 'check.probe',
  summary: 'Probe the targets of a check now, and change nothing',
  waits: true,
  scopes: READERS,
  http: { method: 'POST', path: '/checks/{name}/probe', query: ['target'] },
  cli: {
    verb: 'check probe',
    positionals: ['name'],
    examples: ['svc check probe web', 'svc check probe web --target web1'],
    remark: 'prober',
  },
  mcp: { tool: 'check_probe' },
  input: z.strictObject({
    name: field.name,
    target: field.name.optional().describe('Name of one target; default all targets of the check'),
  }),
  answers: ['check.probe'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  async run({ store, services, caller, clientWait }, { name, target }) {
    const row = await getCheck(store.db, name);
    const targets = await listProbed(store.db, name, target ?? null);
    if (targets.length === 0)
      throw new Failure('invalid_argument', `target: check ${name} has no target ${target ?? ''}.`);
    const ring = targets.some(({ credentials }) => credentials !== null) ? await services.keyring() : null;
    const options = fromJson(row.options);
    const orders = targets.map((each): ProbeOrder => ({
      key: `${name}/${each.name}/${row.created_at}/${row.revision}`,
      kind: row.kind,
      options,
      open: () => (ring === null ? each.spec : openTarget(ring, each)),
    }));
    const netgroups = await services.netgroups.current();
    const results = await services.prober.probeAll(caller.id, orders, clientWait.signal);
    const views = targets.flatMap((each, at) => {
      const result = results[at];
      return result === undefined ? [] : [resultView(row, netgroups, each, result)];
    });
    return reply('check.probe', { check: name, targets: views });
  },
});
