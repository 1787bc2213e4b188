/** What axe finds on a page of a real browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules of axe for WCAG 2.2 AA, and its best practices. */
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** All that another colour scheme of the same page can break. */
const COLOUR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** A line for each rule that the page breaks, and one if it is wider than its window. */
export async function faultsOf(page: Page): Promise<string[]> {
  const found = await broken(page, ALL_RULES);
  const wide = await wideOf(page);
  return wide === null ? found : [...found, wide];
}

/** The same for the rules about colours alone. */
export function colourFaultsOf(page: Page): Promise<string[]> {
  return broken(page, COLOUR_RULES);
}

async function broken(page: Page, runOnly: object): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  return page.evaluate<string[]>(`axe.run(document, ${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map((n) => n.html).join(' ')))`);
}

/** What scrolls to the side. */
export async function wideOf(page: Page): Promise<string | null> {
  const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
  return wide > (page.viewportSize()?.width ?? 0) ? `it is ${wide} px wide` : null;
}
