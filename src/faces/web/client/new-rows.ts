/** Rows that are new in a list wait behind a button, so that those which somebody reads do not move. */
import { make } from './trusted.ts';

const ID = 'new-rows';

export class NewRows {
  #isAsked = false;

  constructor(look: () => void) {
    document.addEventListener('click', ({ target }) => {
      if (!(target instanceof Element) || target.closest(`#${ID}`) === null) return;
      this.#isAsked = true;
      look();
    });
  }

  /** Takes rows that the page does not show yet out of the next state of a list, unless they were asked for. */
  hold(fresh: Document): void {
    const shows = !this.#isAsked;
    this.#isAsked = false;
    const [before, after] = [rowsOf(document), rowsOf(fresh)];
    const known = new Set(before.map(keyOf));
    const added = after.filter((row) => !known.has(keyOf(row)));
    // Rows without links cannot be distinguished; where all rows are others, the list is another one.
    if (!shows || known.has('') || before.length === 0 || added.length === 0 || added.length === after.length) return;
    const table = added[0]?.closest('table');
    for (const row of added) row.remove();
    const text = `${added.length} new: show ${added.length === 1 ? 'it' : 'them'}`;
    table?.before(make('p', {}, make('button', { id: ID, type: 'button' }, text)));
  }
}

/** Of a page that is a list, which has filters. */
function rowsOf(page: Document): HTMLTableRowElement[] {
  const table = page.querySelector('#page .filter ~ table');
  return table === null ? [] : [...table.querySelectorAll<HTMLTableRowElement>('tbody tr')];
}

function keyOf(row: Element): string {
  return row.querySelector('a')?.getAttribute('href') ?? '';
}
