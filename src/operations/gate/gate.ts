import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { CLOSES } from '../../domain/gate/opening.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { TagReader } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { findGate, setGate } from '../../store/gate/gate.ts';
import { listOpenings } from '../../store/gate/openings.ts';
import type { ViewData } from '../../views/views.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';

const LOCAL_ONLY = localOnly('Who could open the gate from afar would need no second person.');

async function gateView(at: TagReader & Pick<Tx, 'dialect'>, now: number): Promise<ViewData<'gate.get'>> {
  const { isStrict, set } = await findGate(at);
  const open = await listOpenings(at, now, isStrict);
  return {
    strict: isStrict,
    set_at: set === null ? null : rfc3339(set.at),
    set_by: set?.by ?? null,
    open: open.map(({ what, count }) => ({ what, count, close: CLOSES[what] })),
  };
}

const get = readOperation({
  id: 'gate.get',
  summary: 'Show whether the gate is strict, and what one person alone can do',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'gate get', examples: ['svc gate get'] },
  answers: ['gate.get'],
  run: async ({ store, services }) => reply('gate.get', await gateView(store, services.clock.now())),
});

const strict = writeOperation({
  id: 'gate.strict',
  causes: { none: 'It starts nothing, and no event depends on it.' },
  summary: 'Close the gate for everything that was not opened by hand, or open it again',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'gate strict', positionals: ['state'], examples: ['svc gate strict on'] },
  input: z.strictObject({ state: field.oneOf(['on', 'off']) }),
  answers: ['gate.get'],
  async run({ tx, caller }, { state }) {
    const isStrict = state === 'on';
    await setGate(tx, { by: caller.owner, isStrict });
    return written(reply('gate.get', await gateView(tx, tx.now)), null, { strict: isStrict });
  },
});

export const GATE_OPERATIONS = [get, strict];
