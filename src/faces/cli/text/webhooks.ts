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
      { title: 'SIGNED', cell: (each) => (each.signed ? 'yes' : 'no') },
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
    ...(data.signed ? [['Signing secret', data.signing_secret ?? ''] as const] : []),
  ]);
  const who = data.signed ? 'the URL and the secret are shown: who has both can send alerts' : 'the URL is shown: who has it can send alerts';
  return `${facts}\nThis is the only time ${who}.\n`;
}
