import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

function endpoints(data: Projected<'notify.endpoint.list'>, display: Display): Table {
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

function endpoint(data: Projected<'notify.endpoint'>, display: Display): Sheet {
  return sheet([
    ['Endpoint', data.id],
    ['Label', data.label ?? '-'],
    ['Owner', data.owner],
    ['URL', data.endpoint],
    ['Since', absolute(data.created_at, display.nowMs)],
  ]);
}

/** Alone on its line, for scripts. */
function pushKey(data: Projected<'notify.key'>): string {
  return `${data.public_key}\n`;
}

function testNotification(data: Projected<'notify.test'>): string {
  const own = data.endpoints === 1 ? 'your endpoint' : `your ${data.endpoints} endpoints`;
  return (
    `Notification ${data.page_id} is queued for every recipient, ` +
    `${data.endpoints === 0 ? 'but you have no endpoint' : `including ${own}`}.\n` +
    'If it does not arrive, run svc doctor: it names each failed delivery and the cause.\n'
  );
}

function armed(data: Projected<'job.notify'>, display: Display): Sheet {
  return sheet([
    ['Job', data.job_id],
    ['State', data.state],
    ['Notify at end, since', absolute(data.armed_at, display.nowMs)],
  ]);
}

export const NOTIFY_TEXTS = {
  'notify.endpoint.list': endpoints,
  'notify.endpoint': endpoint,
  'notify.key': pushKey,
  'notify.test': testNotification,
  'job.notify': armed,
};
