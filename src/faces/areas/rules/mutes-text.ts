import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

type Mute = Projected<'mute.get'>;

function held({ scope_kind: kind, scope_value: value }: Pick<Mute, 'scope_kind' | 'scope_value'>): string {
  return kind === 'global' ? 'everything' : `${kind} ${value ?? '-'}`;
}

function mutes(data: Projected<'mute.list'>, display: Display): Table {
  return table(data, 'No mutes: every notification is sent.', [
    { title: 'ID', cell: (each) => each.id },
    { title: 'HOLDS', cell: held, mayCut: true },
    { title: 'UNTIL', cell: (each) => relative(each.expires_at, display.nowMs) },
    { title: 'VIA', cell: (each) => each.created_via, mayDrop: true },
    { title: 'REASON', cell: (each) => each.reason ?? '-', mayCut: true },
  ]);
}

function mute(data: Mute, display: Display): Sheet {
  return sheet([
    ['Mute', data.id],
    ['Mutes', `notifications of ${held(data)}; jobs still run`],
    ['Until', absolute(data.expires_at, display.nowMs)],
    ['Made via', data.created_via],
    ['Reason', data.reason ?? '-'],
  ]);
}

/** What a mute would have held, the newest of it as a table. */
function previewed(data: Projected<'mute.preview'>, display: Display): Text {
  const { would_hold: count, examined, since, newest } = data;
  const head = sheet([
    ['Mute of', held(data)],
    ['Would have held', `${count} of ${examined} notifications; requests for approval are never held`],
    ['Since', absolute(since, display.nowMs)],
  ]);
  if (newest.length === 0) return [head];
  const rows = table(newest, '', [
    { title: 'WHEN', cell: (each) => relative(each.created_at, display.nowMs) },
    { title: 'ABOUT', cell: (each) => each.about, mayCut: true },
    { title: 'HOST', cell: (each) => each.host ?? '-', mayCut: true },
    { title: 'OF', cell: (each) => each.job_id ?? each.event_id ?? each.run_id ?? '-' },
  ]);
  return [head, newest.length < count ? `The newest ${newest.length}:\n` : '\n', rows];
}

export const MUTE_TEXTS = { 'mute.list': mutes, 'mute.get': mute, 'mute.preview': previewed };
