import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

function watches(data: Projected<'deadman.list'>, display: Display): Table {
  return table(data, 'No watches. Add one with: svc deadman add NAME --webhook WEBHOOK --every 10m', [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'WEBHOOK', cell: (each) => each.webhook, mayDrop: true },
    { title: 'EVERY', cell: (each) => each.every, mayDrop: true },
    { title: 'STATE', cell: (each) => each.state },
    {
      title: 'LAST HEARD',
      cell: (each) => (each.last_heard_at === null ? '-' : relative(each.last_heard_at, display.nowMs)),
    },
  ]);
}

function watch(data: Projected<'deadman.get'>, display: Display): Sheet {
  return sheet([
    ['Watch', data.name],
    ['Webhook', data.webhook],
    ['Every', data.every],
    ['State', stateOf(data)],
    ['Last heard', data.last_heard_at === null ? '-' : absolute(data.last_heard_at, display.nowMs)],
  ]);
}

/** Names the start of the silence if it is not the last message. */
function stateOf({ state, last_heard_at: heardAt, created_at: addedAt }: Projected<'deadman.get'>): string {
  if (state === 'waiting') return 'waiting: no message yet; the silence counts from the creation of the watch';
  if (state === 'heard' && Date.parse(heardAt ?? '') < Date.parse(addedAt))
    return 'last message older than this watch; the silence counts from the creation of the watch';
  return state;
}

export const DEADMAN_TEXTS = { 'deadman.list': watches, 'deadman.get': watch };
