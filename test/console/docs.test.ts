/** The documentation in the console. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentPaths, documentText, START } from '../../src/faces/web/docs/library.ts';
import { addressOf } from '../../src/faces/web/docs/links.ts';
import { DOCS_PAGES } from '../../src/faces/web/pages/docs.ts';
import type { PageRequest, Shown } from '../../src/faces/console/page.ts';
import { readMarkdown } from '../../src/faces/web/docs/markdown.ts';
import { EVIL } from '../support/console/story.ts';
import { visit } from '../support/console/visitor.ts';
import { startProgram } from '../support/program.ts';

/** Links to what is no document: they are shown as text. */
const NOT_DOCUMENTS = ['../CHANGELOG.md', 'bench/results.md', 'configuration.schema.json', 'grafana-dashboard.json'];

async function contentOf(text: string): Promise<string> {
  const { content } = await readMarkdown(text, (href) =>
    addressOf(href, 'how-to/a.md', ['how-to/b.md'], (p) => `/x${p}`),
  );
  return content.text;
}

describe('The documentation', () => {
  it('has no link that leads nowhere, and no markup that is not ours', async () => {
    const paths = await documentPaths();
    assert.ok(paths.length > 60 && paths.includes(START), String(paths.length));
    const anchors = new Map<string, readonly string[]>();
    const links: (readonly [from: string, to: string])[] = [];
    const lost: string[] = [];
    for (const path of paths) {
      const read = await readMarkdown(await documentText(path), (href) => {
        const address = addressOf(href, path, paths, (page) => page);
        if (address === null) lost.push(`${path}: ${href}`);
        else if (!address.startsWith('https://')) links.push([path, address]);
        return address;
      });
      anchors.set(path === START ? '/docs' : `/docs/${path}`, read.anchors);
      assert.doesNotMatch(
        read.content.text,
        /<(?!\/?(?:h[23]|p|pre|[uo]l|li|table|thead|tbody|t[rhd]|b|i|a|code|br|hr|blockquote)[ >])/,
        path,
      );
      assert.notEqual(read.title, 'Document', path);
    }
    for (const [from, to] of links) {
      const [page = '', anchor] = to.startsWith('#') ? [`/docs/${from}`, to.slice(1)] : to.split('#');
      if (anchor !== undefined && anchors.get(page)?.includes(anchor) !== true) lost.push(`${from}: ${to}`);
    }
    assert.ok(links.length > 100, String(links.length));
    assert.deepEqual(
      lost.filter((each) => !NOT_DOCUMENTS.some((known) => each.endsWith(known))),
      [],
    );
  });

  it('T87: makes a document once for an address, and keeps no failure', async () => {
    const page = DOCS_PAGES.find(({ path }) => path === '/docs/:area/:topic');
    assert.ok(page !== undefined);
    const show = async (base: string, topic: string): Promise<Shown> => {
      const request = { params: { area: 'explanation', topic }, url: (path: string) => base + path };
      return page.show(request as unknown as PageRequest);
    };
    const shown = await Promise.all(['', '', '/ops'].map((base) => show(base, 'threats.md')));
    assert.equal(shown[0]?.content, shown[1]?.content);
    assert.notEqual(shown[0]?.content, shown[2]?.content);
    for (let turn = 0; turn < 2; turn += 1) await assert.rejects(show('', 'none.md'), /no such document/);
  });

  it('shows markup and foreign links in a text as text', async () => {
    const text = await contentOf(
      `# Title\n\n${EVIL}\n\n<script>alert(1)</script>\n\n<!-- exits with 2 -->\n\n- <b onclick="x()">b</b>`,
    );
    assert.doesNotMatch(text, /<(?:script|img|b )|exits with/);
    assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
    for (const href of ['javascript:alert(1)', 'data:text/html,x', '//evil.example/b.md', '../../b.md', '/how-to/b.md'])
      assert.equal(await contentOf(`# T\n\n[here](${href})`), '<p>here</p>\n', href);
    assert.match(await contentOf('# T\n\n[`b`](b.md#one)'), /<a href="\/x\/docs\/how-to\/b\.md#one"><code>b<\/code>/);
  });

  it('gives each heading the address that it has elsewhere', async () => {
    const { anchors } = await readMarkdown('# A\n\n## One `two`, three?\n\n## Same\n\n### Same\n', () => null);
    assert.deepEqual(anchors, ['one-two-three', 'same', 'same-1']);
  });

  it('answers documents and folders to who is signed in, and no other file', async (t) => {
    const program = await startProgram(t, { basePath: '/ops' });
    const visitor = await visit(program, program.tokens.readonly);
    const start = await visitor.open('/docs');
    assert.equal(start.status, 200);
    assert.match(start.text, /<a href="\/ops\/docs\/tutorial\/first-job\.md">/);
    assert.match(start.text, /This page elsewhere: <code>docs\/README\.md<\/code>/);
    assert.doesNotMatch(start.text, /id="live"/, 'it is not asked for again and again');
    const folder = await visitor.open('/docs/how-to');
    assert.match(folder.text, /<a href="\/ops\/docs\/how-to\/checks\/status-page\.md">Checks: status page<\/a>/);
    for (const path of [
      '..%2f..%2fetc%2fpasswd',
      '..%2fpackage.json',
      'how-to/..%2f..%2fpackage.json',
      'pictures',
      'pictures/hosts.png',
      'reference/configuration.schema.json',
      'nothing.md',
      '%00',
      'how-to%00.md',
    ])
      assert.equal((await visitor.open(`/docs/${path}`)).status, 404, path);
  });
});
