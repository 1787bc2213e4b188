/** Text for people, laid out for a terminal. */
import { blocksOf, type Sheet, type Table, type Text } from '../text/blocks.ts';
import { type Display, paint } from '../text/display.ts';
import { inline } from '../text/safe.ts';
import { widthOf, WRAP_MIN, wrapped } from '../text/wrap.ts';

const GAP = '  ';
/** A cut cell keeps at least this many columns. */
const CUT_MIN = 10;
/** Where not even that fits, such as on 60 columns: the first words of most cells. */
const CUT_LEAST = 6;
/** Names are cut only where nothing else can give, and then keep this many: more than an id has, so no id is cut. */
const NAME_MIN = 32;

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
  if (all.length === 0) return `${inDisplay(inline(display.noMatch ?? empty), display)}\n`;
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
  const lines = all.flatMap((row, line) => {
    const cells = columns.map((column) => linesOf(column, line));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, part) =>
      joined(
        columns.map(({ width, at }, n) =>
          padded(cells[n]?.[part] ?? '', width, (text) => paint(display, row[at]?.paint, text)),
        ),
      ),
    );
  });
  return `${[header, ...lines].join('\n')}\n`;
}

/** Where a text is too wide, the command at its end is put below it, whole, so that it can be copied. */
function inDisplay(text: string, { width }: Display): string {
  return width === null || widthOf(text) <= width ? text : text.replace(/: (?=svc )/, ':\n  ');
}

/** Names and values below one another. */
function pairs({ entries }: Sheet, display: Display): string {
  // A name may come from the sender, such as that of a label.
  const shown = entries.map(([name, value]) => [inline(name), inline(value)] as const);
  const width = shown.reduce((max, [name]) => Math.max(max, widthOf(name)), 0);
  const room = display.width === null ? null : display.width - width - GAP.length;
  const indent = `\n${' '.repeat(width)}${GAP}`;
  return shown
    .map(
      ([name, value]) => [padded(name, width, (text) => paint(display, 'bold', text)), wrapped(value, room)] as const,
    )
    .map(([name, lines]) => `${name}${GAP}${lines.join(indent)}\n`)
    .join('');
}

function linesOf({ cells, width, mayWrap }: Measured, line: number): readonly string[] {
  const text = cells[line] ?? '';
  return mayWrap === true ? wrapped(text, width) : [cut(text, width)];
}

/** A column with its place, its cells, and the columns of the terminal that it takes, and takes at least. */
type Measured = Table['columns'][number] & {
  readonly at: number;
  readonly cells: readonly string[];
  readonly width: number;
  readonly least: number;
};

function measured(heading: Table['columns'][number], texts: readonly string[], at: number): Measured {
  const cells = texts.map(inline);
  const width = cells.reduce((max, cell) => Math.max(max, widthOf(cell)), heading.title.length);
  const { mayCut = false, mayWrap = false } = heading;
  const least = mayCut ? Math.max(CUT_MIN, heading.title.length) : mayWrap ? WRAP_MIN : width;
  return { ...heading, at, cells, width, least: Math.min(width, least) };
}

function excessOf(widths: readonly number[], width: number): number {
  return widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width;
}

/**
 * Drops optional columns until the others fit when cut. If they do not, names may be cut too, and then the last
 * columns are dropped: a row that the terminal wraps cannot be read.
 */
function kept(all: readonly Measured[], width: number | null): readonly Measured[] {
  if (width === null) return all;
  const needed = dropped(all, width, ({ mayDrop }) => mayDrop === true);
  if (isFitting(needed, width)) return needed;
  const named = needed.map((column) => ({ ...column, least: Math.min(column.least, NAME_MIN) }));
  if (isFitting(named, width)) return named;
  const narrow = named.map((column) =>
    column.mayCut === true
      ? { ...column, least: Math.min(column.least, Math.max(CUT_LEAST, column.title.length)) }
      : column,
  );
  return dropped(narrow, width, ({ at }) => at > 0);
}

function isFitting(columns: readonly Measured[], width: number): boolean {
  return (
    excessOf(
      columns.map(({ least }) => least),
      width,
    ) <= 0
  );
}

/** Without the last of these columns, then the one before it, until the others fit. */
function dropped(columns: readonly Measured[], width: number, may: (column: Measured) => boolean): Measured[] {
  let left = [...columns];
  for (const column of columns.toReversed())
    if (may(column) && !isFitting(left, width)) left = left.filter((each) => each !== column);
  return left;
}

/** Narrows the columns that may be narrower until the table fits, the widest first. */
function fit(columns: readonly Measured[], width: number | null): readonly Measured[] {
  if (width === null) return columns;
  const widths = columns.map((column) => column.width);
  for (let excess = excessOf(widths, width); excess > 0; excess -= 1) {
    const widest = columns.reduce(
      (best, { least }, at) => ((widths[at] ?? 0) > least && (widths[at] ?? 0) > (widths[best] ?? -1) ? at : best),
      -1,
    );
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
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
