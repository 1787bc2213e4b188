import type { Projected } from '../../../operations/views.ts';
import type { Page } from './page.ts';
import { sheet, table } from './table.ts';
import { relative } from './time.ts';

export function webhooks(data: Projected<'webhook.list'>, page: Page): string {
  return table(
    page,
    data,
    [
      { title: 'NAME', cell: (each) => each.name },
      { title: 'SOURCE', cell: (each) => each.source },
      { title: 'ADDED', cell: (each) => relative(each.created_at, page.nowMs) },
      { title: 'LAST HEARD', cell: (each) => (each.last_heard_at === null ? 'never' : relative(each.last_heard_at, page.nowMs)) },
    ],
    'No webhooks. Add one with: svc webhook add NAME --source alertmanager',
  );
}

export function webhookCreated(data: Projected<'webhook.created'>, page: Page): string {
  const facts = sheet(page, [
    ['Webhook', data.name],
    ['Source', data.source],
    ['URL', data.url],
  ]);
  return `${facts}\nThis is the only time the URL is shown: who has it can send alerts.\n`;
}
