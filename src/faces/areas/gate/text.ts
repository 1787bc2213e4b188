import { OPENING_WORDS } from '../../../domain/gate/opening.ts';
import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, table, type Text } from '../../text/blocks.ts';
import { absolute } from '../../text/time.ts';

function gate(data: Projected<'gate.get'>, display: Display): Text {
  const { set_at: at, set_by: by } = data;
  const head = sheet([
    ['Gate', data.strict ? 'strict' : 'not strict; close it with: svc gate strict on'],
    ['Set', at === null ? 'never' : `${absolute(at, display.nowMs)} by ${by ?? 'unknown'}`],
  ]);
  const open = table(data.open, 'Nothing is left that one person alone can do.', [
    { title: 'COUNT', cell: (each) => String(each.count) },
    { title: 'OPEN', cell: (each) => OPENING_WORDS[each.what] },
    { title: 'CLOSED BY', cell: (each) => each.close },
  ]);
  return [head, open];
}

/** Which runs wait, in a sheet; null where it is not set. */
export function runApprovalText(data: Pick<Projected<'source.get'>, 'approve_runs' | 'except_check'>): string | null {
  if (data.approve_runs === undefined) return null;
  return data.except_check === true ? `${data.approve_runs}, except check mode` : data.approve_runs;
}

export const GATE_TEXTS = { 'gate.get': gate };
