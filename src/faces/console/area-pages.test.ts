import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from '../html/html.ts';
import { type AreaPages, pagesOf } from './area-pages.ts';
import type { Page, PageRequest, Shown } from './page.ts';

const REQUEST = {} as unknown as PageRequest;

function page(path: Page['path'], shown: Shown): Page {
  return { path, section: 'Events', title: path, reads: ['event.list'], show: () => Promise.resolve(shown) };
}

const EVENTS: AreaPages = {
  pages: [
    page('/a', { title: 'A', content: html`<p>a</p>` }),
    page('/b', { title: 'B', content: html`<p>b</p>`, status: 400 }),
  ],
};

const OTHER: AreaPages = {
  additions: (['/a', '/b'] as const).map((to) => ({
    to,
    reads: ['other.list'],
    show: () => Promise.resolve(html`<p>other</p>`),
  })),
};

async function contentsOf(areas: readonly AreaPages[]): Promise<string[]> {
  const shown = await Promise.all(pagesOf(areas).map((each) => each.show(REQUEST)));
  return shown.map(({ content }) => content.text);
}

test('what an area adds is at the end of the page of another one, and ends with its row', async () => {
  assert.deepEqual(await contentsOf([EVENTS, OTHER]), ['<p>a</p><p>other</p>', '<p>b</p>']);
  assert.deepEqual(await contentsOf([EVENTS]), ['<p>a</p>', '<p>b</p>']);
});

test('a page may ask the operations of what is added to it, and is still opened by its own first one', () => {
  assert.deepEqual(
    pagesOf([OTHER, EVENTS]).map(({ reads }) => reads),
    [
      ['event.list', 'other.list'],
      ['event.list', 'other.list'],
    ],
  );
  assert.deepEqual(
    pagesOf([EVENTS]).map(({ reads }) => reads),
    [['event.list'], ['event.list']],
  );
});
