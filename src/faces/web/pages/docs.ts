/** The documents of the program, for who has no other copy of them at hand. */
import { html, type Html } from '../../html/html.ts';
import { documentPaths, documentText, START } from '../docs/library.ts';
import { addressOf, documentPage, isFolder } from '../docs/links.ts';
import { readMarkdown } from '../docs/markdown.ts';
import type { Page, PageRequest, Shown } from '../../console/page.ts';

/** A path has a segment for each folder, and the name of the file. */
const PATHS = ['/docs', '/docs/:area', '/docs/:area/:topic', '/docs/:area/:topic/:name'] as const;

async function show(request: PageRequest): Promise<Shown> {
  const { area, topic, name } = request.params;
  const path = [area, topic, name].filter((part) => part !== undefined).join('/') || START;
  const paths = await documentPaths();
  const shown = isFolder(path, paths) ? folder(path, paths, request) : await document(path, paths, request);
  return { ...shown, isStill: true, elsewhere: `docs/${path}` };
}

/** By address: the documents do not change while the program runs, and the longest takes 6 ms. */
const MADE = new Map<string, Promise<Shown>>();

function document(path: string, paths: readonly string[], { url }: PageRequest): Promise<Shown> {
  const address = url(documentPage(path));
  return MADE.getOrInsertComputed(address, () =>
    make(path, paths, url).catch((error: unknown) => {
      MADE.delete(address);
      throw error;
    }),
  );
}

async function make(path: string, paths: readonly string[], url: PageRequest['url']): Promise<Shown> {
  const text = await documentText(path);
  const { title, content } = await readMarkdown(text, (href) => addressOf(href, path, paths, url));
  const up = path === START ? html`` : html`<p><a href="${url('/docs')}">All documents</a></p>\n`;
  return { title, content: html`<article>\n${up}${content}</article>\n` };
}

function folder(path: string, paths: readonly string[], request: PageRequest): Shown {
  const inside = paths.filter((each) => each.startsWith(`${path}/`));
  const rows = inside.map((each) => entry(each, path, request));
  return { title: `Documents in ${path}`, content: html`<ul class="places">\n${rows}</ul>\n` };
}

/** Named by its file: the titles of a whole folder would be as many files to read. */
function entry(path: string, from: string, { url }: PageRequest): Html {
  const words = path
    .slice(from.length + 1, -'.md'.length)
    .replaceAll('-', ' ')
    .replaceAll('/', ': ');
  return html`<li><a href="${url(documentPage(path))}">${words.charAt(0).toUpperCase()}${words.slice(1)}</a></li>\n`;
}

/** Open to all who may sign in: the operation is asked for nothing else. */
export const DOCS_PAGES: readonly Page[] = PATHS.map((path) => ({
  path,
  section: 'System',
  title: 'Documentation',
  reads: ['whoami'],
  show,
}));
