import { CUT_ANNOTATION } from '../events/event.ts';

/** What a command that an event asked for gets of it, beside its words. */

/** Names the file with the event. */
export const EVENT_FILE_VARIABLE = 'SVC_EVENT_FILE';

/** Bytes of the file: labels and annotations of the largest event are cut to fit. */
const FILE_BYTES_MAX = 256 * 1024;
const VARIABLES_MAX = 64;
const VARIABLE_BYTES_MAX = 2_000;
/** Characters of each label and annotation, tried one after the other until the file fits. */
const CUTS = [2_000, 1_000, 500, 250, 100, 25];

type Pairs = Readonly<Record<string, string>>;

interface EventView {
  readonly labels: Pairs;
  readonly annotations: Pairs;
}

/** The event as JSON. `truncated` is there, and true, where values were cut here or when the event was received. */
export function eventFile(view: EventView): Buffer {
  const cutBefore = Object.hasOwn(view.annotations, CUT_ANNOTATION) ? { truncated: true } : {};
  const whole = Buffer.from(JSON.stringify({ ...view, ...cutBefore }));
  if (whole.length <= FILE_BYTES_MAX) return whole;
  for (const characters of CUTS) {
    const cut = (pairs: Pairs): Pairs =>
      Object.fromEntries(Object.entries(pairs).map(([name, text]) => [name, text.slice(0, characters).toWellFormed()]));
    const parts = { labels: cut(view.labels), annotations: cut(view.annotations), truncated: true };
    const bytes = Buffer.from(JSON.stringify({ ...view, ...parts }));
    if (bytes.length <= FILE_BYTES_MAX) return bytes;
  }
  return Buffer.from(JSON.stringify({ ...view, labels: {}, annotations: {}, truncated: true }));
}

/** The variables with the labels. Where two labels would share a name neither is set. */
export function labelVariables(labels: Pairs): Record<string, string> {
  const variables = new Map<string, string | null>();
  for (const name of Object.keys(labels).toSorted()) {
    const variable = `SVC_LABEL_${name.replaceAll(/[^A-Za-z0-9_]/gu, '_').toUpperCase()}`;
    variables.set(variable, variables.has(variable) ? null : oneVariable(labels[name] ?? ''));
  }
  const set = [...variables].filter((each): each is [string, string] => each[1] !== null);
  return Object.fromEntries(set.slice(0, VARIABLES_MAX));
}

function oneVariable(text: string): string {
  const line = text.toWellFormed().replaceAll(/[\0\r\n\v\f\u0085\u2028\u2029]/g, ' ');
  const bytes = Buffer.from(line);
  if (bytes.length <= VARIABLE_BYTES_MAX) return line;
  // A character that the cut would split is left out.
  return bytes
    .subarray(0, VARIABLE_BYTES_MAX)
    .toString()
    .replace(/\ufffd+$/, '');
}
