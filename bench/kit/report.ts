/** Figures, each beside its floor and its goal. A goal that is missed is said, never asserted: machines differ. */
import { MACHINE_KEYS, type Machine } from './machine.ts';

export type Unit = '/s' | 'µs' | 'ms' | 's' | 'MiB' | '%' | 'x' | '';

export interface Floor {
  readonly name: string;
  readonly value: number;
  readonly unit?: Unit;
}

/** What the figure should be: a share of its floor, an amount, or an amount above its floor. */
export type Goal =
  | { readonly ratioAtLeast: number }
  | { readonly ratioAtMost: number }
  | { readonly atLeast: number }
  | { readonly atMost: number }
  | { readonly aboveFloorAtMost: number };

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
  readonly floor?: Floor;
  readonly goal?: Goal;
  readonly note?: string;
}

interface Row {
  readonly part: string;
  readonly name: string;
  readonly figure: string;
  readonly floor: string;
  readonly ratio: string;
  readonly goal: string;
  readonly verdict: string;
}

export const HOW_TO_READ = `# Bench

## How to read

\`npm run bench\` measures the real program as a package carries it, with \`synchronous=FULL\` and every answer sent
after its commit. Absolute figures say as much about the machine as about the program, so each is shown beside a
**floor**: the least that anybody's program would have to do for the same, written as barely as possible and measured
in the same run, mostly in turn with what it is a floor for. The **ratio** is figure divided by floor; a goal is a ratio
where one makes sense and an amount otherwise. \`ok\` and \`miss\` compare with the goal; nothing fails on a miss. Load
comes from a separate process, the same one for the floor. Figures of a busy machine are worth nothing: let it do
nothing else.

\`npm run bench -- PART ...\` runs some parts, \`--quick\` shortens all of them, \`--save\` writes this file: the parts
that it did not run stay below it, with the machine and the day of the run that measured them.
`;

export class Report {
  readonly #rows: Row[] = [];
  #part = '';

  begin(part: string): void {
    this.#part = part;
    print(`\n${part}`);
  }

  add(figure: Figure): void {
    const { name, value, unit, floor, goal, note } = figure;
    const ratio = floor === undefined || (floor.unit ?? unit) !== unit ? '' : `${number(value / floor.value)} x`;
    const row: Row = {
      part: this.#part,
      name: note === undefined ? name : `${name} (${note})`,
      figure: amount(value, unit),
      floor: floor === undefined ? '' : `${floor.name}: ${amount(floor.value, floor.unit ?? unit)}`,
      ratio,
      goal: goal === undefined ? '' : goalText(goal, unit),
      verdict: goal === undefined ? '' : isMet(figure, goal) ? 'ok' : 'miss',
    };
    this.#rows.push(row);
    print(line(row));
  }

  /** Says that a part, or one of its figures, could not be measured. */
  failed(what: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const row = {
      part: this.#part,
      name: what,
      figure: 'not measured',
      floor: why.split('\n')[0] ?? '',
      ratio: '',
      goal: '',
      verdict: 'failed',
    };
    this.#rows.push(row);
    print(`  ${what}: not measured: ${why}`);
  }

  get misses(): number {
    return this.#rows.filter((row) => row.verdict === 'miss').length;
  }

  get failures(): number {
    return this.#rows.filter((row) => row.verdict === 'failed').length;
  }

  /** A section of bench/results.md. */
  markdown(machine: Machine, how: string): string {
    const facts = MACHINE_KEYS.map((key) => `- ${key}: ${machine[key]}`).join('\n');
    const rows = this.#rows.map(
      (row) =>
        `| ${[row.part, row.name, row.figure, row.floor, row.ratio, row.goal, row.verdict].map(cell).join(' | ')} |`,
    );
    const table = [
      '| part | what | figure | floor | ratio | goal | |',
      '| --- | --- | ---: | --- | ---: | --- | --- |',
      ...rows,
    ].join('\n');
    return `${facts}\n- run: ${how}\n\n${table}\n`;
  }
}

function isMet({ value, floor }: Figure, goal: Goal): boolean {
  const base = floor?.value ?? Number.NaN;
  if ('ratioAtLeast' in goal) return value / base >= goal.ratioAtLeast;
  if ('ratioAtMost' in goal) return value / base <= goal.ratioAtMost;
  if ('atLeast' in goal) return value >= goal.atLeast;
  if ('atMost' in goal) return value <= goal.atMost;
  return value - base <= goal.aboveFloorAtMost;
}

function goalText(goal: Goal, unit: Unit): string {
  if ('ratioAtLeast' in goal) return `>= ${goal.ratioAtLeast} x`;
  if ('ratioAtMost' in goal) return `<= ${goal.ratioAtMost} x`;
  if ('atLeast' in goal) return `>= ${amount(goal.atLeast, unit)}`;
  if ('atMost' in goal) return `<= ${amount(goal.atMost, unit)}`;
  return `floor + ${amount(goal.aboveFloorAtMost, unit)}`;
}

function line({ name, figure, floor, ratio, goal, verdict }: Row): string {
  const parts = [`  ${name.padEnd(58)} ${figure.padStart(12)}`];
  if (ratio !== '') parts.push(ratio.padStart(8));
  if (floor !== '') parts.push(`of ${floor}`);
  if (goal !== '') parts.push(`goal ${goal}: ${verdict}`);
  return parts.join('  ');
}

function amount(value: number, unit: Unit): string {
  return unit === '' ? number(value) : `${number(value)} ${unit}`;
}

/** Three digits that count, thousands separated. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
