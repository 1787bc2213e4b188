/** A log as long as the design gives figures for: how long the browser needs to lay it out and to scroll it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { until } from '../../support/api-client.ts';
import { DESK, openPlace, type Place, signedIn, startBrowser } from '../../support/browser/browser.ts';
import { needs } from '../../support/tools.ts';

const LINES = 20_000;
/** The longest log of the design. To fetch as many takes too long for a test, so its other lines are copies. */
const LONGEST = 50_000;
const SCROLL_STEPS = 60;
/**
 * How much more of the processor fewer lines need without the blocks that are laid out only when they are seen.
 * Point 16 gives milliseconds (150 for the layout, 60 for a frame): the test says what they are, and compares what a
 * busy machine doesn't change.
 */
const LAYOUT_RATIO = 3;
const FRAME_RATIO = 10;

describe('A long log in a browser', { skip: needs('chromium') }, () => {
  let browser: Browser;
  let place: Place;
  before(async () => {
    [browser, place] = await Promise.all([startBrowser(), openPlace()]);
  });
  after(async () => {
    await browser.close();
    await place.close();
  });

  test(`${LINES} lines are all on the page, and ${LONGEST} are laid out and scrolled at once`, async (t) => {
    const { program, url } = place;
    const id = await program.queue();
    await program.claim();
    for (let from = 1; from < LINES; from += 2_500) await program.print(id, numbered(from, from + 2_499));
    await program.finish(id, { state: 'succeeded', exitCode: 0 });
    const { context, page, faults } = await signedIn(browser, place, DESK);
    await page.goto(`${url}/jobs/${id}?since=2`);
    await page.getByText(`line ${LINES}`, { exact: true }).waitFor({ state: 'attached' });
    await until('the range is shown', async () =>
      (await page.locator('#log').innerText()).includes(` to ${LINES + 2}.`),
    );
    assert.equal(await page.evaluate("document.querySelectorAll('.log > div > div').length"), LINES);
    const spent = await processorOf(context, page);
    const folded = await spent.laying(LAY_OUT);
    await page.evaluate(showBlocks('visible'));
    const whole = await spent.laying(LAY_OUT);
    await page.evaluate(showBlocks(''));
    assert.ok(folded * LAYOUT_RATIO < whole, `${folded} ms and ${whole} ms`);
    await page.evaluate(ADD_COPIES);
    assert.equal(await page.evaluate("document.querySelectorAll('.log > div > div').length"), LONGEST);
    const layout = await spent.laying(LAY_OUT);
    const frames = await spent.scrolling();
    t.diagnostic(
      `a frame ${frames.mean.toFixed(1)} ms of processor, the longest ${frames.longest} ms; layout ${layout} ms`,
    );
    t.diagnostic(`layout of ${LINES} lines ${folded} ms, without blocks ${whole} ms`);
    assert.ok(layout * LAYOUT_RATIO < whole, `${layout} ms and ${whole} ms`);
    assert.ok(frames.mean * FRAME_RATIO < whole, `${frames.mean} ms and ${whole} ms`);
    // A look at the page visits all that it may change: with these lines that takes longer than some frames.
    assert.equal(await page.locator('#page #log').count(), 0);
    assert.equal(await page.evaluate("window.find('line 2')"), true, 'the first lines can be found');
    assert.deepEqual(faults, []);
    await context.close();
  });
});

/** Milliseconds of processor that the page's thread needs: other work of the machine changes them little. */
async function processorOf(context: BrowserContext, page: Page) {
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const ofScript = async <Result>(script: string, names: readonly string[]): Promise<[number, Result]> => {
    const sum = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return metrics.reduce((total, { name, value }) => (names.includes(name) ? total + value * 1000 : total), 0);
    };
    const before = await sum();
    const result = await page.evaluate<Result>(script);
    return [(await sum()) - before, result];
  };
  return {
    laying: async (script: string) => (await ofScript(script, ['LayoutDuration', 'RecalcStyleDuration']))[0],
    async scrolling() {
      const [spent, longest] = await ofScript<number>(MEASURE_SCROLLING, ['TaskDuration']);
      return { mean: spent / SCROLL_STEPS, longest };
    },
  };
}

/** Adds blocks of the same lines, up to the longest log. */
const ADD_COPIES = `(() => {
  const box = document.querySelector('.log');
  const blocks = [...box.children];
  for (let have = ${LINES}, at = 0; have < ${LONGEST}; at += 1) {
    const block = blocks[at % blocks.length].cloneNode(true);
    for (const line of [...block.children].slice(${LONGEST} - have)) line.remove();
    have += block.children.length;
    for (const line of block.children) line.removeAttribute('id');
    box.append(block);
  }
})()`;

const LAY_OUT = `(() => {
  const box = document.querySelector('.log');
  box.style.display = 'none';
  box.offsetHeight;
  box.style.display = '';
  box.offsetHeight;
})()`;

function showBlocks(visibility: string): string {
  return `(() => {
  const box = document.querySelector('.log');
  for (const block of box.children) block.style.contentVisibility = '${visibility}';
  box.offsetHeight;
})()`;
}

/** The longest time between two frames, while the log is scrolled from its first line to its last. */
const MEASURE_SCROLLING = `new Promise((resolve) => {
  const box = document.querySelector('.tail');
  const steps = ${SCROLL_STEPS};
  let last = 0;
  let longest = 0;
  box.scrollTop = 0;
  const step = (at) => (now) => {
    if (at > 1) longest = Math.max(longest, now - last);
    last = now;
    if (at > steps) return resolve(longest);
    box.scrollTop = (box.scrollHeight - box.clientHeight) * at / steps;
    requestAnimationFrame(step(at + 1));
  };
  requestAnimationFrame(step(0));
})`;

function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);
}
