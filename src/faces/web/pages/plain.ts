import { Failure } from '../../../domain/failure.ts';
import { isNone } from '../../../operations/core/http-face.ts';
import type { ViewName } from '../../../operations/views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { textOf } from '../../text/render.ts';
import { operationOf } from '../console/asker.ts';
import { blocksHtml } from '../console/blocks.ts';
import { filters } from '../console/filters.ts';
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
}

interface PlainRow extends Pick<Page, 'path' | 'section' | 'title'> {
  readonly parts: readonly [Part, ...Part[]];
  readonly heading?: (params: PageRequest['params']) => string;
}

/** A page that shows answers in the words of the command line, with the filters of their operations. */
export function plainPage({ path, section, title, parts, heading }: PlainRow): Page {
  const [first, ...others] = parts;
  return {
    path,
    section,
    title,
    reads: [first.operation, ...others.map(({ operation }) => operation)],
    async show(request) {
      const shown = await Promise.all(parts.map((part) => partHtml(part, request, part === first)));
      return { title: heading?.(request.params) ?? title, content: html`${shown}` };
    },
  };
}

async function partHtml(part: Part, request: PageRequest, isFirst: boolean): Promise<Html> {
  const { operation, kind, heading, named, note } = part;
  const head = heading === undefined ? html`` : html`<h2>${heading}</h2>\n`;
  // The page is opened by its first part; another one may need a scope, or a daemon, that this visitor lacks.
  if (!isFirst && !request.may(operation)) return html``;
  const form = isFirst ? filters(operation, request.query, undefined) : html``;
  const fields = isFirst ? request.fields(operation) : {};
  try {
    const data = await request.ask(operation, kind, { ...fields, ...request.params });
    const noMatch = Object.keys(fields).length > 0 ? 'Nothing matches the filter.' : undefined;
    const links = { url: request.url, noMatch, ...(named === undefined ? {} : { named }) };
    return html`${head}${form}${blocksHtml(textOf(kind, data, request.display), links)}${note?.(request) ?? html``}`;
  } catch (error) {
    if (isFirst || !(error instanceof Failure)) throw error;
    return html`${head}<p class="line">${error.message}</p>\n`;
  }
}

/** For an operation that a browser does not call: the first example of its command. */
export function commandNote(sentence: string, operation: string): () => Html {
  const { cli } = operationOf(operation);
  const command = isNone(cli) ? '' : (cli.examples[0] ?? '');
  return () => html`<p class="soft">${sentence} <code>${command}</code></p>\n`;
}
