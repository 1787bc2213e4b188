/** What people read of an answer, in blocks that a terminal and a page lay out in their own way. */
import type { Paint } from './display.ts';

interface Cell {
  readonly text: string;
  readonly paint?: Paint | undefined;
}

interface Heading {
  readonly title: string;
  /** May be cut at its end where there is too little room. Never set for ids. */
  readonly mayCut?: true;
  /** May be wrapped into more lines where there is too little room: for sentences, which nothing may be cut of. */
  readonly mayWrap?: true;
  /** Dropped, the last one first, if there is too little room even for the cut columns. */
  readonly mayDrop?: true;
}

interface Column<T> extends Heading {
  readonly cell: (row: T) => string;
  readonly paint?: (row: T) => Paint | undefined;
}

/** Rows under a header; without rows `empty` is shown in their place. */
export interface Table {
  readonly is: 'table';
  readonly columns: readonly Heading[];
  readonly rows: readonly (readonly Cell[])[];
  readonly empty: string;
}

/** One thing: its names and values. */
export interface Sheet {
  readonly is: 'sheet';
  readonly entries: readonly (readonly [name: string, value: string])[];
}

/** A text has its line ends, and is safe for a terminal. */
export type Block = Table | Sheet | string;
export type Text = Block | readonly Block[];

export function table<T>(rows: readonly T[], empty: string, columns: readonly Column<T>[]): Table {
  const cells = rows.map((row) => columns.map(({ cell, paint }) => ({ text: cell(row), paint: paint?.(row) })));
  return { is: 'table', columns, rows: cells, empty };
}

/** A name without a value is left out. */
export function sheet(entries: readonly (readonly [name: string, value: string | null | undefined])[]): Sheet {
  const shown = entries.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value] as const],
  );
  return { is: 'sheet', entries: shown };
}

export function blocksOf(text: Text): readonly Block[] {
  return typeof text === 'string' || 'is' in text ? [text] : text;
}
