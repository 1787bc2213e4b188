/**
 * The page of devices: this browser subscribes, is registered with a token, and shows what is pushed to it. The push
 * service is the only part that is not real: the subscription is given by the test, messages come by the debugger.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { until } from '../../support/api-client.ts';
import { DESK, openPlace, type Place, signedIn, startBrowser } from '../../support/browser/browser.ts';
import { needs } from '../../support/tools.ts';

const ENDPOINT = 'https://93.184.215.14/send/abc';
const KEYS = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};
const DELIVERIES_MAX = 4;
const DELIVERED_WITHIN_MS = 15_000;
/** Records what the page asks of a push service, and answers as one would. */
const SUBSCRIBE = `PushManager.prototype.subscribe = async (options) => {
  window.asked = options;
  return { toJSON: () => (${JSON.stringify({ endpoint: ENDPOINT, keys: KEYS })}) };
};`;

describe('The page of devices in a browser', { skip: needs('chromium') }, () => {
  let browser: Browser;
  let place: Place;
  before(async () => {
    [browser, place] = await Promise.all([startBrowser(), openPlace({ basePath: '/ops/x' })]);
  });
  after(async () => {
    await browser.close();
    await place.close();
  });

  test('subscribes this browser, registers it with a token that is not kept, and shows what is pushed', async () => {
    const { program, url } = place;
    const { context, page, faults } = await signedIn(browser, place, DESK, '/devices');
    await context.grantPermissions(['notifications'], { origin: new URL(url).origin });
    await page.evaluate(SUBSCRIBE);
    const command = page.getByLabel('Run this with your token');
    assert.equal(await command.isVisible(), false);
    await page.getByRole('button', { name: 'Subscribe this browser' }).click();
    await command.waitFor();
    assert.equal(
      await command.inputValue(),
      `svc notify endpoint add '${ENDPOINT}' --key p256dh=${KEYS.p256dh} --key auth=${KEYS.auth}`,
    );
    assert.deepEqual(await page.evaluate('window.asked'), {
      userVisibleOnly: true,
      applicationServerKey: await program.services.pushKey(),
    });

    await lookAgain(page);
    assert.equal(await command.isVisible(), true, 'a look at the page takes the command away');
    const button = page.getByRole('button', { name: 'Register' });
    const status = page.locator('#push [role=status]');
    await button.click();
    await status.getByText('Enter a token.').waitFor();
    await page.getByLabel('Token', { exact: true }).fill(program.tokens.readonly);
    await button.click();
    await status.getByText('scope').waitFor();
    assert.equal((await endpoints()).length, 0);
    await page.getByLabel('Label').fill('laptop');
    await page.getByLabel('Token', { exact: true }).fill(program.tokens.operator);
    await button.click();
    await status.getByText(/^Registered as ep_/).waitFor();
    assert.equal(await page.getByLabel('Token', { exact: true }).inputValue(), '');
    assert.deepEqual(await endpoints(), [{ endpoint: ENDPOINT, label: 'laptop', ...KEYS }]);

    await pushed(context, page);
    assert.deepEqual(faults, []);
    await context.close();
  });

  async function endpoints(): Promise<object[]> {
    const rows = place.program.store.db.selectFrom('endpoints').select(['endpoint', 'label', 'p256dh', 'auth']);
    return (await rows.execute()).map((row) => ({ ...row }));
  }

  /** The worker is the only one at the base path, shows each message, and opens its page. */
  async function pushed(context: BrowserContext, page: Page): Promise<void> {
    const { url } = place;
    const origin = new URL(url).origin;
    const session = await context.newCDPSession(page);
    const registrations: { registrationId: string; scopeURL: string }[] = [];
    session.on('ServiceWorker.workerRegistrationUpdated', (event) => void registrations.push(...event.registrations));
    await session.send('ServiceWorker.enable');
    await until('the worker is known', async () => registrations.length > 0);
    assert.deepEqual([...new Set(registrations.map(({ scopeURL }) => scopeURL))], [`${url}/`]);
    const { registrationId } = registrations[0]!;
    const click = `${url}/approvals`;
    const actions = [{ action: 'view', label: 'Review', url: 'http://127.0.0.1:9/approval/1' }];
    const messages = {
      'Approve?': JSON.stringify({ id: 'page_1', title: 'Approve?', message: 'one\ntwo', click, actions }),
      Gatehouse: '{',
    };
    const shown = `navigator.serviceWorker.getRegistration().then((each) => each.getNotifications())
      .then((all) => all.map(({ title, body, tag, data, actions }) =>
        ({ title, body, tag, data, buttons: actions.map((each) => each.action + ' ' + each.title) })))
      .then((all) => all.sort((a, b) => (a.title < b.title ? -1 : 1)))`;
    const missing = async () => {
      const titles = (await page.evaluate<{ title: string }[]>(shown)).map(({ title }) => title);
      return Object.entries(messages).filter(([title]) => !titles.includes(title));
    };
    const areShown = async () => (await missing()).length === 0;
    // What the debugger delivers while the worker starts or stops can be lost: then it is delivered again.
    for (let tries = 0; tries < DELIVERIES_MAX && !(await areShown()); tries += 1) {
      for (const [, data] of await missing())
        await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
      await until('both are shown', areShown, DELIVERED_WITHIN_MS).catch(() => undefined);
    }
    assert.deepEqual(await missing(), []);
    assert.deepEqual(await page.evaluate(shown), [
      {
        title: 'Approve?',
        body: 'one\ntwo',
        tag: 'page_1',
        data: { '': click, '0': actions[0]?.url },
        buttons: ['0 Review'],
      },
      { title: 'Gatehouse', body: '', tag: '', data: { '': '' }, buttons: [] },
    ]);
    assert.deepEqual(await context.serviceWorkers()[0]?.evaluate(OPENED), [click, actions[0]?.url]);
  }
});

/** As when a person comes back to the tab: the page is asked for again. */
async function lookAgain(page: Page): Promise<void> {
  const asked = page.waitForResponse((response) => response.url().endsWith('/devices'));
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await (await asked).finished();
}

/** What is opened when the notification and its button are pressed. Only a person's press may open a window. */
const OPENED = `(async () => {
  const opened = [];
  self.clients.openWindow = async (url) => void opened.push(url);
  const [notification] = await self.registration.getNotifications({ tag: 'page_1' });
  for (const action of ['', '0'])
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action }));
  while (opened.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  return opened;
})()`;
