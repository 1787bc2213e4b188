import { Failure } from '../../domain/failure.ts';
import { isNone } from '../../operations/core/http-face.ts';
import type { ViewName } from '../../views/views.ts';
import { html, type Html } from '../html/html.ts';
import type { Addition } from './area-pages.ts';
import { operationOf, ROWS, ROWS_MAX } from './asker.ts';
import type { Links } from './blocks.ts';
import { copyable } from './elsewhere.ts';
import { filters } from './filters.ts';
import type { Page, PageRequest } from './page.ts';

/** One operation whose answer is shown as on the command line. */
interface Part {
  readonly operation: string;
  readonly kind: ViewName;
  /** Above it; without one it is the first thing below the title. */
  readonly heading?: string;
  /** Columns of names, and where they are shown. */
  readonly named?: Readonly<Record<string, string>>;
  /** What a person may do there, or how it is done elsewhere. */
  readonly note?: (request: PageRequest) => Html;
  /** In place of the words of the command line. */
  readonly show?: (request: PageRequest) => Promise<Html>;
}

interface PlainRow extends Pick<Page, 'path' | 'section' | 'title'> {
  readonly parts: readonly [Part, ...Part[]];
  readonly heading?: (params: PageRequest['params']) => string;
  /** On the button of the form, where its fields filter nothing. */
  readonly submits?: string;
}

/** A page that shows answers in the words of the command line, with the filters of their operations. */
export function plainPage({ path, section, title, parts, heading, submits }: PlainRow): Page {
  const [first, ...others] = parts;
  return {
    path,
    section,
    title,
    reads: [first.operation, ...others.map(({ operation }) => operation)],
    ...(path.includes(':') ? {} : { filters: true }),
    async show(request) {
      const form = isList(request) ? filters(first.operation, request.query, submits) : html``;
      const name = heading?.(request.params) ?? title;
      try {
        const shown = await Promise.all(parts.map((part) => partHtml(part, request, part === first)));
        return { title: name, content: html`${form}${shown}` };
      } catch (error) {
        // What was typed into the form stays there, to be corrected.
        if (form.text === '' || !(error instanceof Failure) || error.code !== 'invalid_argument') throw error;
        return { title: name, status: 400, content: html`<p role="alert">${error.message}</p>\n${form}` };
      }
    },
  };
}

/** An answer in the words of the command line at the end of a page of another area. */
export function plainAddition(to: Addition['to'], part: Part): Addition {
  return { to, reads: [part.operation], show: (request) => partHtml(part, request, false) };
}

async function partHtml(part: Part, request: PageRequest, isFirst: boolean): Promise<Html> {
  const { operation, kind, heading, note, show } = part;
  const head = heading === undefined ? html`` : html`<h2>${heading}</h2>\n`;
  // The page is opened by its first part; another one may need a scope, or a daemon, that this visitor lacks.
  if (!isFirst && !request.may(operation)) return html``;
  try {
    if (show !== undefined) return html`${head}${await show(request)}`;
    const fields = isFirst && isList(request) ? request.fields(operation) : {};
    const data = await request.ask(operation, kind, { ...fields, ...request.params });
    const links = linksOf(part, Object.keys(fields).length > 0);
    const rows = request.view(kind, data, links);
    return html`${head}${rows}${more(data, request)}${note?.(request) ?? html``}`;
  } catch (error) {
    if (isFirst || !(error instanceof Failure)) throw error;
    return html`${head}<p class="line">${error.message}</p>\n`;
  }
}

/** A page of one thing has its parameters in the path, and no filter. */
function isList({ params }: PageRequest): boolean {
  return Object.keys(params).length === 0;
}

function linksOf({ named }: Part, isFiltered: boolean): Omit<Links, 'url'> {
  const noMatch = isFiltered ? 'Nothing matches the filter.' : undefined;
  return { noMatch, ...(named === undefined ? {} : { named }) };
}

/** What a bounded list may have left out. */
function more(data: unknown, { query }: PageRequest): Html {
  if (!Array.isArray(data) || (data.length !== ROWS && data.length !== ROWS_MAX)) return html``;
  if (data.length === ROWS_MAX) return html`<p class="soft">The first ${ROWS_MAX}; the command below lists all.</p>\n`;
  const wider = new URLSearchParams([...query].filter(([name]) => name !== 'limit'));
  wider.set('limit', String(ROWS_MAX));
  return html`<p class="soft">The first ${ROWS}. <a href="?${wider.toString()}">Show ${ROWS_MAX}</a></p>\n`;
}

/** For an operation that a browser does not call: the first example of its command. */
export function commandNote(sentence: string, operation: string): () => Html {
  const { cli } = operationOf(operation);
  const command = isNone(cli) ? '' : (cli.examples[0] ?? '');
  return () => html`<p class="soft">${sentence} ${copyable(command)}</p>\n`;
}
