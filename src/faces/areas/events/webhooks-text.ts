import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

function webhooks(data: Projected<'webhook.list'>, display: Display): Table {
  return table(data, 'No webhooks. Add one with: svc webhook add NAME --source alertmanager', [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'SOURCE', cell: (each) => each.source },
    { title: 'SIGNED', cell: (each) => (each.signed ? 'yes' : 'no'), mayDrop: true },
    { title: 'ADDED', cell: (each) => relative(each.created_at, display.nowMs), mayDrop: true },
    {
      title: 'LAST HEARD',
      cell: (each) => (each.last_heard_at === null ? 'never' : relative(each.last_heard_at, display.nowMs)),
    },
  ]);
}

function webhook(data: Projected<'webhook.get'>, display: Display): Sheet {
  return sheet([
    ['Webhook', data.name],
    ['Source', data.source],
    ['Signed', data.signed ? 'yes' : 'no'],
    ['Added', absolute(data.created_at, display.nowMs)],
    ['Last heard', data.last_heard_at === null ? 'never' : absolute(data.last_heard_at, display.nowMs)],
  ]);
}

/**
 * The words about the URL and the secret. Only those are on standard output, a line each: see SECRETS in render.ts.
 */
function webhookCreated({ name, source, signed }: Projected<'webhook.created'>): string {
  const shown = signed
    ? 'its URL and, below it, its signing secret. Anyone who has both'
    : 'its URL. Anyone who has it';
  return `Webhook ${name}, source ${source}. Shown only now: ${shown} can send alerts.\n`;
}

export const WEBHOOK_TEXTS = { 'webhook.list': webhooks, 'webhook.get': webhook, 'webhook.created': webhookCreated };
