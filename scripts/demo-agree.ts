/** What a person does who gets a notification on the phone of the demo. */
import { ANSWER_LIMIT_MS, api, type Demo, say } from './demo-service.ts';
import type { Page } from './demo-phone.ts';

export function expect(what: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`${what} is ${found}, and ${expected} was expected`);
}

/** Opens the link of the notification, looks at what it asks, and agrees. `step` is the number of the first line. */
export async function agree(demo: Demo, approvalId: string, page: Page, step: number): Promise<void> {
  say(`${step}. The phone shows: "${page.title}". ${page.message}`);
  say(`   Its buttons: ${page.actions.map(({ label }) => label).join(', ')}.`);
  const link = page.actions.find(({ url }) => url.includes('/approve?'))?.url ?? '';
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
async function pageOf(url: string, form?: URLSearchParams): Promise<string> {
  const answer = await fetch(url, {
    ...(form === undefined ? {} : { method: 'POST', body: form }),
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  });
  const page = await answer.text();
  if (!answer.ok) throw new Error(`the link answered ${answer.status}: ${page}`);
  return page;
}

function titleOf(page: string): string {
  return /<title>(.*?)<\/title>/.exec(page)?.[1] ?? '';
}
