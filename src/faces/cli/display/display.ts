import { styleText } from 'node:util';

/** What a rendering may know of where it is shown. */
export interface Display {
  /** Milliseconds since the epoch: what relative times are relative to. */
  readonly nowMs: number;
  readonly color: boolean;
  /** Columns of the terminal; null where there is none, and then nothing is cut. */
  readonly width: number | null;
  /** The flags that lead to the same place, for the commands that are proposed: ` --remote URL`. */
  readonly place?: string;
  /** What to say of a list that is empty because of what was asked for: `No event matches --source grafana.` */
  readonly noMatch?: string | undefined;
}

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** A command to copy that asks the same place. */
export function command({ place = '' }: Display, words: string): string {
  return `svc ${words}${place}`;
}

/** Colours text that is safe already. Colour is never the only carrier: without it the words say the same. */
export function paint(display: Display, format: Paint | undefined, text: string): string {
  return display.color && format !== undefined && text !== ''
    ? styleText(format, text, { validateStream: false })
    : text;
}
