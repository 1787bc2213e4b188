import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../support/browser/browser.ts';
import { type DecisionFixture, type Gated, openDecisionFixture } from '../../support/fixtures/decisions.ts';
import { needs } from '../../support/tools.ts';

const PHONE = { width: 360, height: 740 };
/**
 * How long the page is left open with scripts on, in milliseconds: whatever would decide by itself has done so by then.
 */
const LEFT_OPEN_MS = 2_000;
/** The smallest height of what a thumb has to hit, in CSS pixels. */
const TARGET_PX = 48;

interface Opened {
  readonly fixture: DecisionFixture;
  readonly gated: Gated;
  readonly page: Page;
  readonly approve: string;
  readonly reject: string;
  /** What the page asked for, and what went wrong on it. */
  readonly requests: string[];
  readonly faults: string[];
}

describe('The page of a decision link in a browser', { skip: needs('chromium') }, () => {
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser.close());

  async function open(t: TestContext, colorScheme: 'light' | 'dark', destroys: readonly string[]): Promise<Opened> {
    const fixture = await openDecisionFixture(t);
    const gated = await fixture.gate({ destroys });
    const links = await fixture.links(gated.approvalId);
    const page = await browser.newPage({ viewport: PHONE, colorScheme });
    t.after(() => page.close());
    const requests: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
    page.on('console', (message) => faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(String(error)));
    return { fixture, gated, page, ...links, requests, faults };
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`fits a phone in ${colorScheme} colours, with targets for a thumb`, async (t) => {
      const long = Array.from(
        { length: 30 },
        (_, n) => `module.edge["eu-central-${n}"].terraform_data.a_router_with_quite_a_long_name[0]`,
      );
      const { page, approve, faults } = await open(t, colorScheme, long);
      await page.goto(approve);
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(wide) <= PHONE.width, `the page is ${String(wide)} px wide`);
      const targets = await page.locator('button, textarea').all();
      assert.equal(targets.length, 3);
      for (const target of targets) {
        const box = (await target.boundingBox()) ?? assert.fail('a target is not shown');
        assert.ok(box.height >= TARGET_PX, `a target is ${box.height} px high`);
      }
      const back = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      assert.equal(back, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(14, 17, 22)', 'the style is applied');
      assert.deepEqual(faults, []);
    });
  }

  test('T57: left open with scripts on, it decides nothing; one click decides, the next visit shows it', async (t) => {
    const { fixture, gated, page, approve, requests, faults } = await open(t, 'light', [
      'terraform_data.a',
      'terraform_data.b',
    ]);
    await page.goto(approve);
    await page.waitForTimeout(LEFT_OPEN_MS);
    const path = `/approval/${gated.approvalId}/approve`;
    assert.deepEqual(requests, [`GET ${path}`]);
    assert.equal((await fixture.approval(gated.approvalId)).state, 'pending');

    await page.locator('textarea').fill('seen');
    await page.getByRole('button', { name: 'Approve, destroying 2' }).click();
    await page.getByRole('heading', { name: /^✓ Approved at/ }).waitFor();
    assert.deepEqual(requests, [`GET ${path}`, `POST ${path}`]);
    assert.equal(await fixture.jobState(gated.jobId), 'queued');
    assert.equal((await fixture.approval(gated.approvalId)).reason, 'seen');

    const visit = await page.goto(approve);
    assert.equal(visit?.status(), 200);
    await page.getByRole('heading', { name: /^Already approved at .* by ana$/ }).waitFor();
    assert.equal(await page.locator('button').count(), 0);
    assert.deepEqual(faults, []);
  });

  test('of a yes rejects with its other button, by the other link', async (t) => {
    const { fixture, gated, page, approve, requests, faults } = await open(t, 'light', []);
    await page.goto(approve);
    await page.locator('textarea').fill('not today');
    await page.getByRole('button', { name: 'Reject apply' }).click();
    await page.getByRole('heading', { name: /^Rejected at/ }).waitFor();
    const path = `/approval/${gated.approvalId}`;
    assert.deepEqual(requests, [`GET ${path}/approve`, `POST ${path}/reject`]);
    const { state, reason } = await fixture.approval(gated.approvalId);
    assert.deepEqual({ state, reason }, { state: 'rejected', reason: 'not today' });
    assert.deepEqual(faults, []);
  });

  test('is decided with the keyboard alone', async (t) => {
    const { fixture, gated, page, reject } = await open(t, 'dark', []);
    await page.goto(reject);
    await page.keyboard.press('Tab');
    await page.keyboard.type('not today');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Rejected at/ }).waitFor();
    const { state, reason } = await fixture.approval(gated.approvalId);
    assert.deepEqual({ state, reason }, { state: 'rejected', reason: 'not today' });
    assert.equal(await fixture.jobState(gated.jobId), 'cancelled');
  });
});
