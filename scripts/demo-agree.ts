/** What a person does who gets a notification on the phone of the demo. */
import { ANSWER_LIMIT_MS, api, type Demo, say } from './demo-service.ts';
import type { Notification } from './demo-phone.ts';
import { answered, DemoError } from './demo-wait.ts';

export function expect(what: string, found: string, expected: string): void {
  if (found !== expected) throw new DemoError(`${what} is ${found}, and ${expected} was expected`);
}

/** Opens the link of the notification, looks at what it asks, and agrees. `step` is the number of the first line. */
export async function agree(demo: Demo, approvalId: string, received: Notification, step: number): Promise<void> {
  say(`${step}. The phone shows: "${received.title}". ${received.message}`);
  say(`   Its buttons: ${received.actions.map(({ label }) => label).join(', ')}.`);
  const link = received.actions.find(({ url }) => url.includes('/approve?'))?.url;
  if (link === undefined) throw new DemoError('the notification has no link to the page of the approval');
  const shown = await pageOf(link);
  const { state } = await api<{ state: string }>(demo, `/approvals/${approvalId}`);
  say(`${step + 1}. Opening the link (GET) shows "${titleOf(shown)}" and decides nothing: the approval is ${state}.`);
  expect('the approval', state, 'pending');
  // The page carries what it showed: a decision counts for that and for nothing newer.
  const seen = /name="seen" value="([0-9a-f]*)"/.exec(shown)?.[1] ?? '';
  const answer = await pageOf(link, new URLSearchParams({ seen }));
  say(`${step + 2}. Pressing the button (POST) does: "${titleOf(answer)}".`);
}

/** With a form the button is pressed; without one the page is only opened. */
function pageOf(url: string, form?: URLSearchParams): Promise<string> {
  return answered('the page of the approval', ANSWER_LIMIT_MS, async (signal) => {
    const answer = await fetch(url, { ...(form === undefined ? {} : { method: 'POST', body: form }), signal });
    const page = await answer.text();
    if (!answer.ok) throw new DemoError(`the page of the approval answered ${answer.status}: ${titleOf(page)}`);
    return page;
  });
}

function titleOf(page: string): string {
  return /<title>(.*?)<\/title>/.exec(page)?.[1] ?? '';
}
