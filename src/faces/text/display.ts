import { styleText } from 'node:util';

/** The properties of the output that a rendering may use. */
export interface Display {
  /** Milliseconds since the epoch: the base of relative times. */
  readonly nowMs: number;
  readonly color: boolean;
  /** Columns of the terminal; null without a terminal: then nothing is cut. */
  readonly width: number | null;
  /** The flags of the same server, for proposed commands: ` --remote URL`. */
  readonly place?: string;
  /** The message for a list that filters made empty: `No event matches --source grafana.` */
  readonly noMatch?: string | undefined;
}

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** A command to copy, for the same server. */
export function command({ place = '' }: Display, words: string): string {
  return `svc ${words}${place}`;
}

/** Colours text that is already safe. Colour never carries meaning alone: the words say the same. */
export function paint(display: Display, format: Paint | undefined, text: string): string {
  return display.color && format !== undefined && text !== ''
    ? styleText(format, text, { validateStream: false })
    : text;
}
