/** The log of a job on its page: as it grows, when the connection fails, and when it is long. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { setPartial } from '../../../src/store/jobs/partials.ts';
import { until } from '../../support/api-client.ts';
import { DESK, openPlace, type Place, signedIn, startBrowser } from '../../support/browser/browser.ts';

import { startRelay } from '../../support/browser/relay.ts';
import { faultsOf } from '../../support/console/axe.ts';
import { needs } from '../../support/tools.ts';

describe('The log of a job in a browser', { skip: needs('chromium') }, () => {
  let browser: Browser;
  let place: Place;
  before(async () => {
    [browser, place] = await Promise.all([startBrowser(), openPlace()]);
  });
  after(async () => {
    await browser.close();
    await place.close();
  });

  async function runningJob(lines = 0): Promise<string> {
    const id = await place.program.queue();
    await place.program.claim();
    if (lines > 0) await place.program.print(id, numbered(1, lines));
    return id;
  }

  test('grows by the stream while one looks on, and reading further up is not disturbed', async () => {
    const { program, url } = place;
    const id = await runningJob(300);
    const { context, page, faults } = await signedIn(browser, place, DESK, `/jobs/${id}`);
    await status(page).getByText('Live').waitFor();
    await until('the end of the log is shown', async () => (await page.evaluate(AT_END)) === true);
    await program.print(id, ['\u001b[31mred\u001b[0m <b>', 'one \u202e more']);
    await page.getByText(String.raw`one \u202e more`).waitFor();
    assert.equal(await page.locator('#log .c-fail').innerText(), 'red');
    await until('it follows', async () => (await page.evaluate(AT_END)) === true);

    await page.locator('#log .log').hover();
    await page.mouse.wheel(0, -2_000);
    await until('following ends', async () => !(await page.getByLabel('Follow').isChecked()));
    await until('the view has moved', async () => (await page.evaluate(AT_END)) === false);
    const before = await page.evaluate("document.querySelector('.tail').scrollTop");
    await program.print(id, ['three', 'four']);
    await page.getByRole('button', { name: '↓ 2 new lines' }).waitFor();
    assert.equal(await page.evaluate("document.querySelector('.tail').scrollTop"), before, 'the view stays');
    await page.locator('.tail').focus();
    await page.keyboard.press('End');
    await until('it follows again', async () => page.getByLabel('Follow').isChecked());

    await program.finish(id, { state: 'failed', exitCode: 3 });
    await status(page).getByText('The job ended: failed, exit code 3').waitFor();
    await page.locator('.head').getByText('failed').waitFor();
    await assertWhole(page, 306);
    await until('no stream is left', () => program.face.load().streams <= 1);
    await page.goto(`${url}/jobs/${id}#L305`);
    assert.equal(await page.locator('#L305:target').innerText(), '305\nfour');
    await page.locator('#L303 a').click({ modifiers: ['Shift'] });
    assert.equal(new URL(page.url()).hash, '#L303-L305');
    assert.deepEqual(await page.locator('.marked a').allInnerTexts(), ['303', '304', '305']);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('has below it the line that has not ended, in its colours, until it ends', async () => {
    const { program } = place;
    const id = await runningJob();
    const partial = async (text: string): Promise<void> => {
      await program.store.write(async (tx) => setPartial(tx, id, { stream: 'stdout', data: Buffer.from(text) }));
      program.services.announceJob(id);
    };
    await partial('\u001b[31mSure?\u001b[0m <b>');
    const { context, page, faults } = await signedIn(browser, place, DESK, `/jobs/${id}`);
    const open = page.locator('#log .open');
    await open.getByText('Sure? <b>').waitFor();
    assert.equal(await open.locator('.c-fail').innerText(), 'Sure?');
    await partial('Really? ');
    await open.getByText('Really?').waitFor();
    await program.store.write(async (tx) => setPartial(tx, id, null));
    await program.print(id, ['Really? no']);
    await page.locator('#L2').waitFor();
    await open.waitFor({ state: 'hidden' });
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('a job that failed opens at its first error, and a line above those of the page is fetched', async () => {
    const { program, url } = place;
    const id = await runningJob(500);
    await program.print(id, ['Error: no such volume', ...numbered(501, 600), 'error again']);
    await program.finish(id, { state: 'failed', exitCode: 1 });
    const { context, page, faults } = await signedIn(browser, place, DESK, `/jobs/${id}`);
    await page.locator('.marked').getByText('Error: no such volume').waitFor();
    const [line, box] = [await page.locator('.marked').boundingBox(), await page.locator('.tail').boundingBox()];
    assert.ok(line && box && line.y >= box.y - 1 && line.y < box.y + box.height, 'it is in view');
    await page.goto(`${url}/jobs/${id}#L5-L6`);
    await page.waitForURL(`${url}/jobs/${id}?since=4#L5-L6`);
    await page.locator('#L6.marked').waitFor();
    assert.deepEqual(await page.locator('.marked').allInnerTexts(), ['5\nline 4', '6\nline 5']);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('lines are wrapped or scrolled sideways, and have their times, with scripts and without', async () => {
    const { program } = place;
    const id = await runningJob();
    await program.print(id, [`${'long '.repeat(200)}end`, 'short']);
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    for (const javaScriptEnabled of [true, false]) {
      const { context, page, faults } = await signedIn(browser, place, { ...DESK, javaScriptEnabled }, `/jobs/${id}`);
      const size = (): Promise<[number, boolean]> => page.evaluate<[number, boolean]>(SIZE_OF_LOG);
      const [wrapped, isWideWrapped] = await size();
      assert.ok(wrapped > 24, 'the long line takes several');
      assert.equal(isWideWrapped, false);
      await page.getByLabel('Wrap long lines').uncheck();
      assert.deepEqual(await size(), [24, true]);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
      await page.getByLabel('Wrap long lines').check();
      assert.deepEqual(await size(), [wrapped, false]);
      const time = "getComputedStyle(document.querySelector('.log [data-at]'), '::before').content";
      assert.equal(await page.evaluate(time), 'none');
      await page.locator('.times').check();
      assert.match(String(await page.evaluate(time)), /^(?:attr\(data-at\)|"\d\d:\d\d:\d\d")$/);
      assert.deepEqual(faults, []);
      await context.close();
    }
  });

  test('folds its groups and what a tool repeats, and finds lines and errors in them', async () => {
    const { program } = place;
    const id = await program.queue();
    await program.claim();
    const tasks = ['one', 'two'].flatMap((name) => [
      `TASK [${name}] ****`,
      `ok: [${name}]`,
      `\u001b[0mdisk.${name}: Refreshing state... [id=1]`,
      `error in ${name}`,
    ]);
    await program.print(id, tasks);
    const { context, page, faults } = await signedIn(browser, place, DESK, `/jobs/${id}`);
    await status(page).getByText('Live').waitFor();
    const shown = async (): Promise<string[]> =>
      (await page.locator('#log .log [id]:not(.state)').all()).reduce<Promise<string[]>>(
        async (all, line) =>
          (await line.getAttribute('hidden')) === null ? [...(await all), await line.innerText()] : all,
        Promise.resolve([]),
      );
    const numbers = async (): Promise<string> => (await shown()).map((text) => text.split('\n')[0]).join(' ');
    assert.equal((await page.locator('#L2').boundingBox())?.height, 24, 'it is as high as any line');
    assert.equal(await numbers(), '2 3 5 6 7 9', 'refreshes are folded');
    await page.getByLabel('Without refreshes').uncheck();
    assert.equal(await numbers(), '2 3 4 5 6 7 8 9');
    await page.getByRole('button', { name: 'TASK [one]' }).press('Enter');
    assert.equal(await numbers(), '2 6 7 8 9');
    await page.getByLabel('Fold', { exact: true }).check();
    assert.equal(await numbers(), '2 6');
    await program.print(id, ['of the last task', 'TASK [three] ****', 'ok: [three]']);
    await page.getByRole('button', { name: 'TASK [three]' }).waitFor();
    assert.equal(await numbers(), '2 6 11', 'what comes is folded too');
    assert.deepEqual(await faultsOf(page), []);

    await page.getByLabel('Find in the output').fill('OK: [T');
    await page.keyboard.press('Enter');
    await page.getByText('1 of 2', { exact: true }).waitFor();
    assert.equal(await page.locator('.found').innerText(), '7\nok: [two]');
    assert.equal(await page.getByLabel('Follow').isChecked(), false);
    await page.keyboard.press('Shift+Enter');
    assert.equal(await page.locator('.found').innerText(), '12\nok: [three]');
    await page.locator('.tail').focus();
    await page.keyboard.press('e');
    assert.equal(await page.locator('.found').innerText(), '5\nerror in one');
    await page.keyboard.press('Shift+E');
    assert.equal(await page.locator('.found').innerText(), '9\nerror in two');
    await page.getByLabel('Fold', { exact: true }).uncheck();
    assert.equal(await numbers(), '2 3 4 5 6 7 8 9 10 11 12');
    await program.finish(id, { state: 'failed', exitCode: 1 });
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('a lost connection says so and loses or doubles no line', async (t) => {
    const { program } = place;
    const relay = await startRelay(program.port);
    t.after(() => relay.stop());
    const id = await runningJob(10);
    const { context, page, faults } = await signedIn(browser, { ...place, url: relay.url }, DESK, `/jobs/${id}`);
    await status(page).getByText('Live').waitFor();
    relay.cut();
    await status(page)
      .getByText(/^Connection lost: next try in \d+s, from line 11$/)
      .waitFor();
    await page
      .locator('#live')
      .getByText(/^Offline: the page is as of .*; next try in \d+s$/)
      .waitFor();
    await program.print(id, numbered(11, 900));
    relay.mend();
    await page.getByText('line 900', { exact: true }).waitFor();
    await status(page).getByText('Live').waitFor();
    await assertWhole(page, 901);
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    await page.locator('.head').getByText('succeeded').waitFor();
    await assertWhole(page, 902);
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('without a place for its stream it says so, shows each line all the same, and is live again later', async () => {
    const { program, url } = place;
    const id = await runningJob(10);
    const held = new AbortController();
    const headers = { authorization: `Bearer ${program.tokens.operator}` };
    const others = await Promise.all(
      Array.from({ length: 4 }, () => fetch(`${url}/api/v1/jobs/${id}/stream`, { headers, signal: held.signal })),
    );
    assert.deepEqual(
      others.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const { context, page, faults } = await signedIn(browser, place, DESK);
    // The refusal is that of the service, with a shorter time to wait.
    await context.route('**/jobs/*/stream*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'retry-after': '2' } });
    });
    await page.goto(`${url}/jobs/${id}`);
    const words = 'Stream limit reached: lines come with each look at the page; next try in 2s';
    await status(page).getByText(words).waitFor();
    await program.print(id, numbered(11, 20));
    await page.getByText('line 20', { exact: true }).waitFor();
    await assertWhole(page, 21);
    await context.unroute('**/jobs/*/stream*');
    held.abort();
    await status(page).getByText('Live').waitFor();
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    await status(page)
      .getByText(/^The job ended: succeeded/)
      .waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('when the session ends, the page and its log say so and ask no more', async () => {
    const { program } = place;
    const id = await runningJob(10);
    const token = await program.token('readonly');
    const tokens = { ...program.tokens, readonly: token };
    const { context, page } = await signedIn(
      browser,
      { ...place, program: { ...program, tokens } },
      DESK,
      `/jobs/${id}`,
      'readonly',
    );
    await status(page).getByText('Live').waitFor();
    await program.revoke(token);
    await status(page).getByText('Signed out: reload the page to sign in').waitFor();
    await page.locator('#live').getByText('Signed out: reload the page to sign in').waitFor();
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    await context.close();
  });
});

const AT_END = `(() => {
  const box = document.querySelector('.tail');
  return box.scrollHeight > box.clientHeight && box.scrollHeight - box.scrollTop - box.clientHeight <= 4;
})()`;

/** The height of the longest line, and whether the log is scrolled sideways. */
const SIZE_OF_LOG = `(() => {
  const box = document.querySelector('#log .log');
  const line = [...box.querySelectorAll('[id]')].find(({ textContent }) => textContent.includes('long '));
  return [line.getBoundingClientRect().height, box.scrollWidth > box.clientWidth];
})()`;

function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);
}

function status(page: Page): ReturnType<Page['locator']> {
  return page.locator('#log [role=status]').last();
}

/** Each line from the first to the last is on the page, once and in order. */
async function assertWhole(page: Page, last: number): Promise<void> {
  const ids = await page.evaluate<string[]>("[...document.querySelectorAll('#log .log [id]')].map(({ id }) => id)");
  assert.deepEqual(
    ids,
    Array.from({ length: last }, (_, at) => `L${at + 1}`),
  );
}
