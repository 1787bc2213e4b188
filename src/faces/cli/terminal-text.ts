/** Text for people, laid out for a terminal. */
import { blocksOf, type Sheet, type Table, type Text } from '../text/blocks.ts';
import { type Display, paint } from '../text/display.ts';
import { inline } from '../text/safe.ts';

const GAP = '  ';
/** A cut cell keeps at least this many columns. */
const CUT_MIN = 10;

/** Ends with a line end. */
export function terminalText(text: Text, display: Display): string {
  return blocksOf(text)
    .map((block) =>
      typeof block === 'string' ? block : block.is === 'table' ? rows(block, display) : pairs(block, display),
    )
    .join('');
}

/** Rows under a header, aligned. Without rows `empty`, unless the display knows that a filter left some out. */
function rows({ rows: all, columns: headings, empty }: Table, display: Display): string {
  if (all.length === 0) return `${inline(display.noMatch ?? empty)}\n`;
  const measuredAll = headings.map((heading, at) =>
    measured(
      heading,
      all.map((row) => row[at]?.text ?? ''),
      at,
    ),
  );
  const columns = fit(kept(measuredAll, display.width), display.width);
  const header = joined(
    columns.map(({ title, width }) => padded(title, width, (text) => paint(display, 'bold', text))),
  );
  const lines = all.map((row, line) =>
    joined(
      columns.map(({ cells, width, at }) =>
        padded(cut(cells[line] ?? '', width), width, (text) => paint(display, row[at]?.paint, text)),
      ),
    ),
  );
  return `${[header, ...lines].join('\n')}\n`;
}

/** Names and values below one another. */
function pairs({ entries }: Sheet, display: Display): string {
  // A name may come from the sender, such as that of a label.
  const shown = entries.map(([name, value]) => [inline(name), inline(value)] as const);
  const width = shown.reduce((max, [name]) => Math.max(max, widthOf(name)), 0);
  return shown
    .map(([name, value]) => `${padded(name, width, (text) => paint(display, 'bold', text))}${GAP}${value}\n`)
    .join('');
}

/** A column with its place, its cells, and the columns of the terminal that the widest of them takes. */
type Measured = Table['columns'][number] & {
  readonly at: number;
  readonly cells: readonly string[];
  readonly width: number;
};

function measured(heading: Table['columns'][number], texts: readonly string[], at: number): Measured {
  const cells = texts.map(inline);
  return {
    ...heading,
    at,
    cells,
    width: cells.reduce((max, cell) => Math.max(max, widthOf(cell)), heading.title.length),
  };
}

function excessOf(widths: readonly number[], width: number): number {
  return widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width;
}

/** Drops optional columns until the others fit when cut. */
function kept(columns: readonly Measured[], width: number | null): readonly Measured[] {
  if (width === null) return columns;
  const least = columns.map((column) => (column.mayCut === true ? Math.min(CUT_MIN, column.width) : column.width));
  let excess = excessOf(least, width);
  const dropped = new Set<number>();
  for (let at = columns.length - 1; at >= 0 && excess > 0; at -= 1) {
    if (columns[at]?.mayDrop !== true) continue;
    dropped.add(at);
    excess -= (least[at] ?? 0) + GAP.length;
  }
  return columns.filter((_, at) => !dropped.has(at));
}

/** Narrows the columns that may be cut until the table fits, the widest first. */
function fit(columns: readonly Measured[], width: number | null): readonly Measured[] {
  if (width === null) return columns;
  const widths = columns.map((column) => column.width);
  for (let excess = excessOf(widths, width); excess > 0; excess -= 1) {
    const widest = columns.reduce(
      (best, column, at) => (column.mayCut === true && (widths[at] ?? 0) > (widths[best] ?? -1) ? at : best),
      -1,
    );
    const has = widths[widest] ?? 0;
    if (has <= CUT_MIN) break;
    widths[widest] = has - 1;
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? 0 }));
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 0 && widthOf(letters.join('')) > width - 1) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}

const ESCAPE = '\u001b';
const STYLES = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);

/** A line of a terminal, which may have styles, in at most `width` columns: a mark says where it was cut. */
export function cutLine(text: string, width: number | null): string {
  const parts = text.split(STYLES);
  if (width === null || widthOf(parts.filter((_, at) => at % 2 === 0).join('')) <= width) return text;
  let left = width;
  const shown = parts.map((part, at) => {
    // Styles stay, so that the last one ends.
    if (at % 2 === 1 || left === 0) return at % 2 === 1 ? part : '';
    const fits = widthOf(part) < left ? part : cut(part, left);
    left = fits === part ? left - widthOf(part) : 0;
    return fits;
  });
  return shown.join('');
}

function padded(text: string, width: number, dress: (text: string) => string): string {
  return dress(text) + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function joined(cells: readonly string[]): string {
  return cells.join(GAP).trimEnd();
}

const ASCII = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}]$/u;
/** Letters that take two columns on a terminal: East Asian wide and full-width ones, and most emoji. */
const TWO_WIDE = new RegExp(
  String.raw`^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6` +
    String.raw`\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$`,
  'u',
);

/** Columns that the text takes on a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const letter of text) width += NO_WIDTH.test(letter) ? 0 : TWO_WIDE.test(letter) ? 2 : 1;
  return width;
}
