import type { Projected } from '../../../operations/views/views.ts';
import type { Display } from '../display.ts';
import { sheet, type Sheet, table, type Table } from '../blocks.ts';
import { absolute, relative } from '../time.ts';

type Mute = Projected<'mute.get'>;

function held({ scope_kind: kind, scope_value: value }: Mute): string {
  return kind === 'global' ? 'everything' : `${kind} ${value ?? '-'}`;
}

export function mutes(data: Projected<'mute.list'>, display: Display): Table {
  return table(data, 'No mutes: every notification is sent.', [
    { title: 'ID', cell: (each) => each.id },
    { title: 'HOLDS', cell: held, mayCut: true },
    { title: 'UNTIL', cell: (each) => relative(each.expires_at, display.nowMs) },
    { title: 'VIA', cell: (each) => each.created_via },
    { title: 'REASON', cell: (each) => each.reason ?? '-', mayCut: true },
  ]);
}

export function mute(data: Mute, display: Display): Sheet {
  return sheet([
    ['Mute', data.id],
    ['Mutes', `notifications of ${held(data)}; jobs still run`],
    ['Until', absolute(data.expires_at, display.nowMs)],
    ['Made via', data.created_via],
    ['Reason', data.reason ?? '-'],
  ]);
}
