/** The steps of a workflow as a graph, drawn by the server: a box for each step, a line for each need. */
import type { Paint } from '../../text/display.ts';
import { html, type Html } from '../../html/html.ts';
import { HUES } from '../../console/marks.ts';

interface GraphStep {
  readonly name: string;
  readonly needs: readonly string[];
  /** Its state in a run, or what it does. */
  readonly note: string;
  readonly paint?: Paint | undefined;
  /** The path of its page. */
  readonly href?: string | undefined;
}

/** Of a box and the room around it, in pixels. */
const BOX = { width: 168, height: 44, besides: 56, below: 16 };
const MARGIN = 2;
/** Letters that fit into a box; the table beside the graph has the whole names. */
const LETTERS = 20;

interface Placed extends GraphStep {
  readonly column: number;
  readonly row: number;
}

/** Steps that need each other in a circle, which no stored workflow has, are drawn in the first column. */
export function graphHtml(steps: readonly GraphStep[]): Html {
  if (steps.length === 0) return html``;
  const placed = place(steps);
  const byName = new Map(placed.map((step) => [step.name, step]));
  const lines = placed.flatMap((step) =>
    step.needs.flatMap((need) => {
      const from = byName.get(need);
      return from === undefined ? [] : [lineHtml(from, step)];
    }),
  );
  const columns = Math.max(...placed.map(({ column }) => column)) + 1;
  const rows = Math.max(...placed.map(({ row }) => row)) + 1;
  const width = columns * (BOX.width + BOX.besides) - BOX.besides + 2 * MARGIN;
  const height = rows * (BOX.height + BOX.below) - BOX.below + 2 * MARGIN;
  return html`<div class="wide" role="region" aria-label="Steps as a graph" tabindex="0">
<svg class="graph" role="group" aria-label="${described(steps)}" width="${width}" height="${height}" \
viewBox="0 0 ${width} ${height}">
${lines}${placed.map(boxHtml)}</svg>
</div>
`;
}

/** For who does not see it. */
function described(steps: readonly GraphStep[]): string {
  return steps
    .map(({ name, needs, note }) => `${name} (${note})${needs.length === 0 ? '' : ` after ${needs.join(', ')}`}`)
    .join('; ');
}

/** A step is one column behind the last step that it needs, and as near to the rows of those as there is room. */
function place(steps: readonly GraphStep[]): Placed[] {
  const columns = columnsOf(steps);
  const rows = new Map<string, number>();
  const placed: Placed[] = [];
  for (let column = 0; placed.length < steps.length; column += 1) {
    const wanted = steps
      .filter(({ name }) => columns.get(name) === column)
      .map((step) => ({ step, at: meanRow(step, rows) }))
      .toSorted((a, b) => a.at - b.at);
    let next = 0;
    for (const { step, at } of wanted) {
      const row = Math.max(next, Math.round(at));
      next = row + 1;
      rows.set(step.name, row);
      placed.push({ ...step, column, row });
    }
  }
  return placed;
}

function meanRow({ needs }: GraphStep, rows: ReadonlyMap<string, number>): number {
  const known = needs.flatMap((need) => rows.get(need) ?? []);
  return known.length === 0 ? 0 : known.reduce((sum, row) => sum + row, 0) / known.length;
}

function columnsOf(steps: readonly GraphStep[]): ReadonlyMap<string, number> {
  const columns = new Map<string, number>(steps.map(({ name }) => [name, 0]));
  // The longest way has as many steps as there are: after that many rounds nothing moves but a circle.
  for (const _ of steps)
    for (const { name, needs } of steps) {
      const behind = needs.map((need) => (columns.get(need) ?? -1) + 1);
      columns.set(name, Math.min(Math.max(0, ...behind), steps.length - 1));
    }
  return columns;
}

function cornerOf({ column, row }: Placed): { x: number; y: number } {
  return { x: MARGIN + column * (BOX.width + BOX.besides), y: MARGIN + row * (BOX.height + BOX.below) };
}

function lineHtml(from: Placed, to: Placed): Html {
  const [a, b] = [cornerOf(from), cornerOf(to)];
  const [x1, y1, x2, y2] = [a.x + BOX.width, a.y + BOX.height / 2, b.x, b.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return html`<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"/>\n`;
}

function boxHtml(step: Placed): Html {
  const { x, y } = cornerOf(step);
  const hue = step.paint === undefined ? '' : HUES[step.paint];
  const box = html`<g class="${hue}"><title>${step.name}: ${step.note}</title>\
<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6"/>\
<text x="${x + 12}" y="${y + 18}">${short(step.name)}</text>\
<text class="soft" x="${x + 12}" y="${y + 35}">${short(step.note)}</text></g>`;
  return step.href === undefined ? html`${box}\n` : html`<a href="${step.href}">${box}</a>\n`;
}

function short(text: string): string {
  return text.length <= LETTERS ? text : `${text.slice(0, LETTERS - 1).toWellFormed()}…`;
}
