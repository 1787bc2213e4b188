/** The console in a real browser: every page, light and dark, on a desk and on a phone. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { PAGES } from '../../src/faces/web/pages/table.ts';
import { until } from '../support/api-client.ts';
import { gate } from '../support/fixtures/approvals.ts';
import { type Program, startProgram } from '../support/program.ts';
import { CHROMIUM, needs } from '../support/tools.ts';
import { faultsOf, wideOf } from '../support/console/axe.ts';
import { pathOf, tellStory } from '../support/console/story.ts';

const FLAGS = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
interface Look {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
}

const LOOKS: readonly Look[] = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 360, height: 740, colorScheme: 'dark' },
];

describe('The console in a browser', { skip: needs('chromium') }, () => {
  let browser: Browser;
  before(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, chromiumSandbox: false });
  });
  after(() => browser.close());

  async function signedIn(program: Program, look: Look, path = '/'): Promise<{ page: Page; faults: string[] }> {
    const { width, height, colorScheme } = look;
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('401')) faults.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(`${program.url}/`)) faults.push(`asks ${request.url()}`);
    });
    await page.goto(program.url + path);
    await page.locator('input[name=token]').fill(program.tokens.operator);
    await page.keyboard.press('Enter');
    await page.locator('nav').first().waitFor();
    return { page, faults };
  }

  for (const look of LOOKS)
    test(`axe finds nothing on any page, ${look.width} px wide and ${look.colorScheme}`, async (t) => {
      const program = await startProgram(t, { basePath: '/ops/x' });
      const story = await tellStory(program);
      const { page, faults } = await signedIn(program, look);
      const found: string[] = [];
      for (const row of PAGES) {
        const path = pathOf(row.path, story);
        if (path === null) continue;
        await page.goto(program.url + path);
        found.push(...(await faultsOf(page)).map((each) => `${path}: ${each}`));
      }
      assert.deepEqual([...found, ...faults], []);
      await page.close();
    });

  test('on 320 px no page scrolls to the side', async (t) => {
    const program = await startProgram(t);
    const story = await tellStory(program);
    const { page, faults } = await signedIn(program, { width: 320, height: 640, colorScheme: 'light' });
    const found: string[] = [];
    for (const row of PAGES) {
      const path = pathOf(row.path, story);
      if (path === null) continue;
      await page.goto(program.url + path);
      const wide = await wideOf(page);
      if (wide !== null) found.push(`${path}: ${wide}`);
    }
    assert.deepEqual([...found, ...faults], []);
    await page.close();
  });

  test('by the keyboard alone one signs in on the page that was asked for, approves and signs out', async (t) => {
    const program = await startProgram(t);
    const { approval, jobId } = await gate(program.store, { planned: false });
    const [, phone] = LOOKS;
    assert.ok(phone);
    const { page, faults } = await signedIn(program, phone, `/approvals/${approval.id}`);
    assert.equal(new URL(page.url()).pathname, `/approvals/${approval.id}`);
    await tabTo(page, 'textarea');
    await page.keyboard.type('read on the phone');
    await page.keyboard.press('Enter');
    assert.equal(new URL(page.url()).pathname, `/approvals/${approval.id}`, 'no key in the text decides');
    await tabTo(page, 'button[value=approve]');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/jobs/${jobId}`);
    assert.match(await page.locator('.head').innerText(), /queued/);
    await tabTo(page, 'footer button');
    await page.keyboard.press('Enter');
    await page.locator('input[name=token]').waitFor();
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('a page that is open shows what happens, and keeps what one has opened and typed', async (t) => {
    const program = await startProgram(t, { basePath: '/ops' });
    const id = await program.queue();
    await gate(program.store);
    const [desk] = LOOKS;
    assert.ok(desk);
    const { page, faults } = await signedIn(program, desk, `/jobs/${id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await program.claim();
    await program.print(id, ['the first line']);
    await page.getByText('the first line').waitFor();
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    await page.locator('.head').getByText('succeeded').waitFor();

    await page.goto(`${program.url}/workspaces/net`);
    await page.locator('summary').click();
    await page.locator('input[name=plan]').fill('art_01');
    const before = await page.locator('footer time').innerText();
    await until('the page looks again', async () => (await page.locator('footer time').innerText()) !== before);
    assert.equal(await page.locator('input[name=plan]').inputValue(), 'art_01');
    assert.equal(await page.evaluate('document.activeElement.name'), 'plan');
    assert.equal(await page.locator('details[open]').count(), 1);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('pause ends the requests, and a session that ended says so', async (t) => {
    const program = await startProgram(t);
    await program.queue();
    const [desk] = LOOKS;
    assert.ok(desk);
    const { page } = await signedIn(program, desk, '/jobs');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.keyboard.press('p');
    await page.getByText('Paused', { exact: true }).waitFor();
    // What was under way when it was pressed may still arrive.
    await page.waitForLoadState('networkidle');
    let requests = 0;
    page.on('request', () => (requests += 1));
    // More than two looks at a page on which a job waits.
    await page.waitForTimeout(5_000);
    assert.equal(requests, 0);
    await program.revoke(program.tokens.operator);
    await page.keyboard.press('p');
    await page.getByText('Signed out: reload the page to sign in').waitFor();
    await page.close();
  });

  test('keys open sections and the filter, and none does anything else', async (t) => {
    const program = await startProgram(t);
    const [desk] = LOOKS;
    assert.ok(desk);
    const { page, faults } = await signedIn(program, desk);
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    await page.waitForURL('**/jobs');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate('document.activeElement.name'), 'state');
    assert.deepEqual(faults, []);
    await page.close();
  });
});

/** Presses Tab until the element has the focus, which must be visible. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press('Tab');
    const focused = `document.activeElement?.matches(${JSON.stringify(selector)}) === true`;
    if ((await page.evaluate(focused)) !== true) continue;
    assert.notEqual(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
    return;
  }
  assert.fail(`Tab does not reach ${selector}`);
}
