import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createStatusFace } from '../../../src/faces/status/face.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { startBrowser } from '../../support/browser/browser.ts';
import { faultsOf } from '../../support/console/axe.ts';
import { startProgram } from '../../support/program.ts';
import { needs } from '../../support/tools.ts';

/** A new page, and what went wrong on it: refused resources, script errors, requests to other origins. */
async function openPage(
  browser: Browser,
  size: { width: number; height: number },
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({ viewport: size });
  const faults: string[] = [];
  page.on('console', (message) => {
    // The sign-in page is a 401 on purpose.
    if (message.type() === 'error' && !message.text().includes('401')) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  return { page, faults };
}

describe('Pages in a browser', { skip: needs('chromium') }, () => {
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser.close());

  test('one signs in with the keyboard alone on a screen of 360 px, and out again', async (t) => {
    const program = await startProgram(t, { basePath: '/ops' });
    const { page, faults } = await openPage(browser, { width: 360, height: 640 });
    const first = await page.goto(`${program.url}/`);
    assert.equal(first?.status(), 401);
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(wide) <= 360, `the page is ${String(wide)} px wide`);
    await page.locator('input[name=token]').focus();
    await page.keyboard.type(program.tokens.operator);
    await page.keyboard.press('Enter');
    await page.locator('input[name=token]').waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).pathname, '/ops/');
    assert.deepEqual(
      await page
        .context()
        .cookies()
        .then((all) => all.map(({ name, httpOnly, sameSite, path }) => ({ name, httpOnly, sameSite, path }))),
      [{ name: 'svc_session', httpOnly: true, sameSite: 'Lax', path: '/ops' }],
    );
    await page.locator('footer form button').click();
    await page.locator('input[name=token]').waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('a wrong token is reported on the page, with the field to try again', async (t) => {
    const program = await startProgram(t);
    const { page, faults } = await openPage(browser, { width: 1024, height: 768 });
    await page.goto(`${program.url}/`);
    await page.locator('input[name=token]').fill('svc_nothing');
    await page.keyboard.press('Enter');
    await page.locator('[role=alert]').waitFor();
    assert.equal(await page.locator('input[name=token]').count(), 1);
    assert.deepEqual(faults, []);
    await page.close();
  });

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing on the ${colorScheme} status page, which fits 320 px`, async (t) => {
      const uptime = { day: 1, week: 0.9999, month: 0.98, quarter: 0.98, since: Date.now() - 86_400_000 };
      const states = ['up', 'partly', 'down', 'unknown'] as const;
      const face = createStatusFace({
        clock: systemClock,
        log: { error: (_fields, message) => assert.fail(message) },
        checks: states.map((name) => ({ name, label: `${name} ${'with-a-long-name'.repeat(4)}` })),
        read: () => Promise.resolve(states.map((state) => ({ name: state, state, uptime }))),
      });
      t.after(() => face.close(0));
      const { url } = await face.listen({ host: '127.0.0.1', port: 0 });
      const page = await browser.newPage({ viewport: { width: 320, height: 640 }, colorScheme });
      await page.goto(url);
      assert.deepEqual(await faultsOf(page), []);
      await page.close();
    });

  test('T43: a page of ours does not render in the frame of another origin', async (t) => {
    const program = await startProgram(t);
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<iframe id="f" src="${program.url}/"></iframe>`);
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', () => resolve()));
    t.after(() => new Promise((resolve) => evil.close(resolve)));
    const page = await browser.newPage();
    await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
    const framed = page.frames().find((frame) => frame !== page.mainFrame());
    assert.equal(await framed?.locator('input[name=token]').count(), 0, 'the frame is empty');
    await page.close();
  });
});
