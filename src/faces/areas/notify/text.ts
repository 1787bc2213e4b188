import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

export function endpoints(data: Projected<'notify.endpoint.list'>, display: Display): Table {
  return table(data, 'You have no endpoints. Register one with: svc notify endpoint add URL --label phone', [
    { title: 'ID', cell: (each) => each.id },
    { title: 'LABEL', cell: (each) => each.label ?? '-' },
    ...(data.some(({ owner }) => owner !== undefined)
      ? [{ title: 'OWNER', cell: ({ owner }: (typeof data)[number]) => owner ?? '-' }]
      : []),
    { title: 'ENDPOINT', cell: (each) => each.endpoint },
    { title: 'SINCE', cell: (each) => relative(each.created_at, display.nowMs) },
  ]);
}

export function endpoint(data: Projected<'notify.endpoint'>, display: Display): Sheet {
  return sheet([
    ['Endpoint', data.id],
    ['Label', data.label ?? '-'],
    ['Owner', data.owner],
    ['URL', data.endpoint],
    ['Since', absolute(data.created_at, display.nowMs)],
  ]);
}

/** Alone on its line, for scripts. */
export function pushKey(data: Projected<'notify.key'>): string {
  return `${data.public_key}\n`;
}

export function testNotification(data: Projected<'notify.test'>): string {
  const own = data.endpoints === 1 ? 'your endpoint' : `your ${data.endpoints} endpoints`;
  return (
    `Notification ${data.page_id} is queued for every recipient, ` +
    `${data.endpoints === 0 ? 'but you have no endpoint' : `including ${own}`}.\n` +
    'If it does not arrive, run svc doctor: it names each failed delivery and the cause.\n'
  );
}

export function armed(data: Projected<'job.notify'>, display: Display): Sheet {
  return sheet([
    ['Job', data.job_id],
    ['State', data.state],
    ['Notify at end, since', absolute(data.armed_at, display.nowMs)],
  ]);
}

export function watches(data: Projected<'deadman.list'>, display: Display): Table {
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

export function watch(data: Projected<'deadman.get'>, display: Display): Sheet {
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
