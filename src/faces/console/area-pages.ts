import { html, type Html } from '../html/html.ts';
import type { Action } from './action.ts';
import type { Page, PageRequest } from './page.ts';

/** What an area has in the console. */
export interface AreaPages {
  readonly pages?: readonly Page[];
  /** What it shows on pages of other areas. */
  readonly additions?: readonly Addition[];
  readonly actions?: readonly Action[];
}

/** A part at the end of a page of another area, which does not know of it. */
export interface Addition {
  /** The path of that page. */
  readonly to: `/${string}`;
  /** The operations that it may ask besides those of that page. */
  readonly reads: readonly string[];
  /** Throws Failure, which then is all that the page shows. */
  readonly show: (request: PageRequest) => Promise<Html>;
}

/** The pages of all areas in their order, each with what other areas add to it. */
export function pagesOf(areas: readonly AreaPages[]): Page[] {
  const additions = areas.flatMap(({ additions: own = [] }) => own);
  return areas.flatMap(({ pages = [] }) => pages).map((page) => withAdditions(page, additions));
}

function withAdditions(page: Page, all: readonly Addition[]): Page {
  const additions = all.filter(({ to }) => to === page.path);
  if (additions.length === 0) return page;
  return {
    ...page,
    reads: [...page.reads, ...additions.flatMap(({ reads }) => reads)],
    async show(request) {
      const shown = await page.show(request);
      // Of a form that was refused, the page shows the form only.
      if (shown.status !== undefined) return shown;
      const added = await Promise.all(additions.map((addition) => addition.show(request)));
      return { ...shown, content: html`${shown.content}${added}` };
    },
  };
}
