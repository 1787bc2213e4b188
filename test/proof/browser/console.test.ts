/** The console in a real browser: every page, light and dark, on a desk and on a phone; at the root, behind a proxy. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { PAGES } from '../../../src/faces/web/pages/table.ts';
import { until } from '../../support/api-client.ts';
import {
  DESK,
  type Look,
  openPlace,
  openPlaceBehindNginx,
  PHONE,
  type Place,
  signedIn,
  startBrowser,
  tabTo,
} from '../../support/browser/browser.ts';
import { colourFaultsOf, faultsOf, wideOf } from '../../support/console/axe.ts';
import { pathOf, tellStory } from '../../support/console/story.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { needs } from '../../support/tools.ts';

/** The other scheme of each is looked at for its colours. */
const LOOKS: readonly Look[] = [DESK, PHONE];
const NARROW = { width: 320, height: 640 };

/** By axe, in both schemes on both screens; nothing scrolls to the side, on 320 px neither. */
async function judged(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const { width, height, colorScheme } of LOOKS) {
    const add = (faults: readonly string[]): number => found.push(...faults.map((each) => `${width} px ${each}`));
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    add(await faultsOf(page));
    await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
    add(await colourFaultsOf(page));
  }
  await page.setViewportSize(NARROW);
  const wide = await wideOf(page);
  return wide === null ? found : [...found, `on 320 px ${wide}`];
}

/** Without the style sheet the navigation would have marks, and without the script its button would be hidden. */
async function arrived(page: Page): Promise<string[]> {
  const style = await page.evaluate('getComputedStyle(document.querySelector("nav ul")).listStyleType');
  const isReady = await page.locator('#find').isVisible();
  return [...(style === 'none' ? [] : ['has no style']), ...(isReady ? [] : ['has no script'])];
}

describe('The console in a browser', { skip: needs('chromium') }, () => {
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser.close());

  describe('at the root', () => suite(() => openPlace(), judged));
  // What a page looks like does not depend on its address: that its files arrive does.
  describe('below /ops/x behind nginx', { skip: needs('nginx') }, () =>
    suite(() => openPlaceBehindNginx('/ops/x'), arrived),
  );

  function suite(open: () => Promise<Place>, judge: (page: Page) => Promise<string[]>): void {
    let place: Place;
    before(async () => {
      place = await open();
    });
    after(() => place.close());

    test('no page has a fault', async () => {
      const story = await tellStory(place.program);
      const { context, page, faults } = await signedIn(browser, place, DESK);
      const found: string[] = [];
      for (const row of PAGES) {
        const path = pathOf(row.path, story);
        if (path === null) continue;
        await page.goto(place.url + path);
        found.push(...(await judge(page)).map((each) => `${path} ${each}`));
      }
      assert.deepEqual([...found, ...faults], []);
      await context.close();
    });

    test('by the keyboard alone one signs in on the page that was asked for, approves and signs out', async () => {
      const { approval, jobId } = await gate(place.program.store, { planned: false });
      const { context, page, faults } = await signedIn(browser, place, PHONE, `/approvals/${approval.id}`);
      assert.equal(page.url(), `${place.url}/approvals/${approval.id}`);
      await tabTo(page, 'textarea');
      await page.keyboard.type('read on the phone');
      await page.keyboard.press('Enter');
      assert.equal(page.url(), `${place.url}/approvals/${approval.id}`, 'no key in the text decides');
      await tabTo(page, 'button[value=approve]');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/jobs/${jobId}`);
      await page.locator('.head').getByText('queued').waitFor();
      await tabTo(page, 'footer form button');
      await page.keyboard.press('Enter');
      await page.locator('input[name=token]').waitFor();
      assert.deepEqual(faults, []);
      await context.close();
    });

    test('a page that is open shows what happens, and keeps what one has opened and typed', async () => {
      const { program, url } = place;
      await gate(program.store);
      const { context, page, faults } = await signedIn(browser, place, DESK, '/workspaces/net');
      await page.locator('main summary').first().click();
      await page.locator('input[name=plan]').fill('art_01');
      const before = await page.locator('footer time').innerText();
      await gate(program.store);
      await until('the page looks again', async () => (await page.locator('footer time').innerText()) !== before);
      assert.equal(await page.locator('input[name=plan]').inputValue(), 'art_01');
      assert.equal(await page.evaluate('document.activeElement.name'), 'plan');
      assert.equal(await page.locator('main details[open]').count(), 1);
      await page.goto(`${url}/jobs`);
      await page.keyboard.press('/');
      assert.equal(await page.evaluate('document.activeElement.name'), 'state');
      await page.keyboard.press('Tab');
      assert.deepEqual(faults, []);
      await context.close();
    });
  }
});
