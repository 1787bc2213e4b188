/** What axe finds on a page of a real browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The axe rules of WCAG 2.2 AA, and its best practices. */
const RUN_AXE = `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(
  ({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map((n) => n.html).join(' ')))`;

/** A line for each rule that the page breaks, and one if it is wider than its window. */
export async function faultsOf(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const found = await page.evaluate<string[]>(RUN_AXE);
  const wide = await wideOf(page);
  return wide === null ? found : [...found, wide];
}

/** What scrolls to the side. */
export async function wideOf(page: Page): Promise<string | null> {
  const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
  return wide > (page.viewportSize()?.width ?? 0) ? `it is ${wide} px wide` : null;
}
