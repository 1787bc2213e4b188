/** What the script of the console does beside the log: news of approvals, the palette, the choices of a person. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { addHistory } from '../../../src/store/checks/history.ts';
import { gather, type Gathered, SLOT_MS } from '../../../src/domain/checks/sweep/day.ts';
import { until } from '../../support/api-client.ts';
import { DESK, openPlace, PHONE, type Place, signedIn, startBrowser, tabTo } from '../../support/browser/browser.ts';
import { faultsOf } from '../../support/console/axe.ts';
import { gate, gated, moveState, SERIAL } from '../../support/fixtures/approvals.ts';
import { needs } from '../../support/tools.ts';

const TABS = 8;

describe('The script of the console', { skip: needs('chromium') }, () => {
  let browser: Browser;
  let place: Place;
  before(async () => {
    [browser, place] = await Promise.all([startBrowser(), openPlace({ basePath: '/ops' })]);
  });
  after(async () => {
    await browser.close();
    await place.close();
  });

  test('the tabs of a browser share one stream of approvals; when its tab closes, another takes over', async () => {
    const { program, url } = place;
    const { context, page, faults } = await signedIn(browser, place, DESK);
    const tabs: Page[] = [page];
    while (tabs.length < TABS) {
      const tab = await context.newPage();
      await tab.goto(`${url}/jobs`);
      tabs.push(tab);
    }
    await until('one tab has the stream', () => program.face.load().streams === 1);
    const before = await pendingOf(page);
    await gate(program.store);
    for (const tab of tabs) await until('each tab tells', async () => (await pendingOf(tab)) === before + 1);
    await page.getByText(/^New approval: apply:net: /).waitFor({ state: 'attached' });
    assert.match((await page.locator('link[rel=icon]').getAttribute('href')) ?? '', /icon-waiting/);
    assert.equal(program.face.load().streams, 1);

    await page.close();
    const [second, ...others] = tabs.slice(1);
    assert.ok(second);
    await gate(program.store);
    for (const tab of [second, ...others])
      await until('each tab tells again', async () => (await pendingOf(tab)) === before + 2);
    assert.equal(program.face.load().streams, 1);
    await second.keyboard.press('p');
    for (const tab of others) await tab.keyboard.press('p');
    await until('no tab listens', () => program.face.load().streams === 0);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('without a place for the stream of approvals the page says how old its number can be', async () => {
    const { context, page, faults } = await signedIn(browser, place, DESK);
    await context.route('**/approvals/stream', (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '30' }, body: '{}' }),
    );
    await page.reload();
    await page
      .locator('#live')
      .getByText(/^Every \d+s \(stream limit reached\)$/)
      .waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('pause ends the requests, and a session that ended says so', async () => {
    const { program } = place;
    const id = await program.queue();
    const token = await program.token('operator');
    const tokens = { ...program.tokens, operator: token };
    const { context, page } = await signedIn(browser, { ...place, program: { ...program, tokens } }, DESK, '/jobs');
    await page.locator('#live').getByText('Live').waitFor();
    await page.keyboard.press('p');
    await page.locator('#live').getByText('Paused').waitFor();
    // What was under way when it was pressed may still arrive.
    await page.waitForLoadState('networkidle');
    let requests = 0;
    page.on('request', () => (requests += 1));
    // More than two looks at a page on which a job waits.
    await page.waitForTimeout(5_000);
    assert.equal(requests, 0);
    await program.revoke(token);
    await page.keyboard.press('p');
    await page.locator('#live').getByText('Signed out: reload the page to sign in').waitFor();
    await program.claim();
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    await context.close();
  });

  test('new rows of a list wait for who reads it, and what changes in a row is shown', async () => {
    const { program } = place;
    const id = await program.queue();
    const { context, page, faults } = await signedIn(browser, place, DESK, '/jobs?runbook=command:localhost');
    const top = page.locator('tbody tr').first();
    await top.getByText(id).waitFor();
    await program.claim();
    await program.queue();
    await page.getByRole('button', { name: '1 new: show it' }).waitFor();
    await top.getByText('running').waitFor();
    assert.match(await top.innerText(), new RegExp(id));
    await page.getByRole('button', { name: '1 new: show it' }).click();
    await until('the new one is on top', async () => !(await top.innerText()).includes(id));
    assert.equal(await page.getByRole('button', { name: /new: show/ }).count(), 0);
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    await program.claim();
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('keys open sections, rows and the palette, which finds links and ids, and none decides anything', async () => {
    const { program, url } = place;
    const { approval } = await gate(program.store);
    const { context, page, faults } = await signedIn(browser, place, DESK);
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.waitForURL(`${url}/approvals`);
    await page.keyboard.press('j');
    const row = await page.evaluate<string>('document.activeElement.closest("tr").innerText');
    assert.match(row, /^pending\s+apr_/);

    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('footer .copy').first().click();
    await page.locator('footer').getByText('Copied').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'svc approval list');
    await page.locator('footer form button').focus();
    await page.keyboard.press('Control+k');
    await page.locator('#palette').waitFor();
    assert.deepEqual(await faultsOf(page), []);
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate('document.activeElement.closest("footer") !== null'), true, 'the focus is back');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('sched');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/schedules`);
    await page.keyboard.press('/');
    await page.keyboard.type(approval.id);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/approvals/${approval.id}`);
    for (const key of ['a', 'x', 'y', 'Enter']) await page.keyboard.press(key);
    assert.equal(page.url(), `${url}/approvals/${approval.id}`);
    await page.locator('.head').getByText('pending').waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('the strip of a check is one stop of the keyboard, in which arrows name each half hour', async () => {
    const { program, url } = place;
    await fetch(`${url}/api/v1/checks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${program.tokens.operator}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'web', kind: 'tcp', interval: '1h', targets: ['one=192.0.2.1:9'] }),
    });
    await until('the half hour lasts as long as the test', async () => Date.now() % SLOT_MS < SLOT_MS - 5_000);
    const now = Date.now();
    const gathered: Gathered[] = [];
    gather(gathered, { at: now, reading: 'down', isSnoozed: false, durationMs: 3 });
    await program.store.write((tx) => addHistory(tx, 'web', 'one', gathered));
    const { context, page, faults } = await signedIn(browser, place, DESK, '/checks/web');
    await tabTo(page, '.strip');
    await page.keyboard.press('ArrowLeft');
    // The last half hour of a day ends on the next one, and says so.
    assert.match(
      await page.locator('.slot').innerText(),
      /^\d\d:[03]0 to (?:\d{4}-\d\d-\d\d )?\d\d:[03]0 UTC: down at least once$/,
    );
    await page.keyboard.press('ArrowLeft');
    assert.match(await page.locator('.slot').innerText(), /: no observation$/);
    await page.keyboard.press('Home');
    assert.equal(await page.locator('.strip').getAttribute('aria-activedescendant'), 's0-0');
    assert.equal(await page.locator('[aria-selected=true]').count(), 1);
    assert.deepEqual(await faultsOf(page), []);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('colours, density, times and single keys are chosen, and stay', async () => {
    const { url } = place;
    const { context, page, faults } = await signedIn(browser, place, PHONE);
    await page.locator('#view summary').click();
    for (const [name, value] of [
      ['scheme', 'light'],
      ['density', 'compact'],
      ['times', 'local'],
      ['keys', 'off'],
    ] as const)
      await page.locator(`#view select[name=${name}]`).selectOption(value);
    const background = 'getComputedStyle(document.body).backgroundColor';
    assert.equal(await page.evaluate(background), 'rgb(255, 255, 255)');
    const time = page.locator('footer time');
    assert.match(await time.innerText(), /^\d\d:\d\d:\d\d [+−]\d\d:\d\d$/);
    await page.goto(`${url}/jobs`);
    assert.equal(await page.evaluate(background), 'rgb(255, 255, 255)');
    assert.match(await time.innerText(), /^\d\d:\d\d:\d\d [+−]\d\d:\d\d$/);
    assert.match((await time.getAttribute('title')) ?? '', /^\d{4}-.*Z$/);
    assert.deepEqual(await faultsOf(page), []);
    await page.keyboard.press('p');
    await page.locator('#live').getByText('Live').waitFor();
    await page.goto(`${url}/approvals/${(await gated(place.program)).apr}`);
    assert.match(await page.locator('main time').first().innerText(), /^(?:\d{4}-\d\d-\d\d )?\d\d:\d\d [+−]\d\d:\d\d$/);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('on paper everything is unfolded, and there is no navigation', async () => {
    const { program, url } = place;
    const id = await program.queue();
    await program.claim();
    await program.print(
      id,
      Array.from({ length: 400 }, (_, at) => `line ${at}`),
    );
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    const { context, page, faults } = await signedIn(browser, place, DESK, `/jobs/${id}`);
    await page.locator('.tail').waitFor();
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('header').isVisible(), false);
    const [scroll, client] = await page.evaluate<[number, number]>(
      "[document.querySelector('.tail').scrollHeight, document.querySelector('.tail').clientHeight]",
    );
    assert.equal(scroll, client);
    assert.ok(client > 400 * 20, `${client} px`);
    await page.emulateMedia({ media: 'screen' });
    await page.goto(`${url}/approvals/${(await gated(program)).apr}`);
    await page.locator('main summary').click();
    const folded = "document.querySelector('main details:not([open]) dl').checkVisibility()";
    assert.equal(await page.evaluate(folded), false);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.evaluate(folded), true);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('a plan that grew stale, and a decision of another, are shown instead of a second decision', async () => {
    const { program, url } = place;
    const [stale, taken] = [await gated(program), await gate(program.store, { planned: false })];
    const { context, page, faults } = await signedIn(browser, place, DESK, `/approvals/${taken.approval.id}`);
    await page.keyboard.press('p');
    await fetch(`${url}/api/v1/approvals/${taken.approval.id}/decision`, {
      method: 'POST',
      headers: { authorization: `Bearer ${program.tokens.approve}`, 'content-type': 'application/json' },
      body: '{"decision":"reject"}',
    });
    await page.locator('button[value=approve]').click();
    await page
      .locator('[role=alert]')
      .getByText(/rejected/)
      .waitFor();

    await page.goto(`${url}/approvals/${stale.apr}`);
    await page.keyboard.press('p');
    await moveState(program.store, SERIAL + 1);
    await page.locator('button[value=approve]').click();
    await page.locator('[role=alert]').first().waitFor();
    await page.getByText(/can no longer be approved/).waitFor();
    assert.equal(await page.locator('button[value=approve]').count(), 0);
    assert.deepEqual(faults, []);
    await context.close();
  });
});

/** The number in the title of a tab. */
async function pendingOf(tab: Page): Promise<number> {
  return Number(/^\((\d+)\) /.exec(await tab.title())?.[1] ?? 0);
}
