/**
 * A golden list of titles, each once, in the order of their characters. It may only grow: a test that is moved, made
 * quicker or written again keeps its title, and one that is lost is seen.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Compares the list in this file with the titles that are there; `npm run golden` adds the new ones to it. */
export function assertNoTitleLost(path: string, titles: readonly string[]): void {
  const golden = readFileSync(path, 'utf8');
  const whole = withNewTitles(golden, titles);
  if (process.env['GATEHOUSE_UPDATE_GOLDEN'] === '1') writeFileSync(path, whole);
  assert.deepEqual(lostTitles(golden, titles), [], `A test that is really to go loses its line in ${path} by hand.`);
  assert.equal(readFileSync(path, 'utf8'), whole, 'run: npm run golden');
  assert.deepEqual(lostTitles('A title that no test has\n', titles), ['A title that no test has']);
}

/** Those of the text of the list that no test has. */
function lostTitles(golden: string, titles: readonly string[]): string[] {
  const there = new Set(titles);
  return linesOf(golden).filter((title) => !there.has(title));
}

/** The text of the list with the titles that are new. */
function withNewTitles(golden: string, titles: readonly string[]): string {
  return `${[...new Set([...linesOf(golden), ...titles])].toSorted().join('\n')}\n`;
}

function linesOf(golden: string): string[] {
  return golden.split('\n').filter((line) => line !== '');
}
