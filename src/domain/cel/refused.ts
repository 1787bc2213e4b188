import { editDistance } from '../../lib/edit-distance.ts';

/** An expression that is not accepted. The message names the place, what is wrong and, where one is known, the cure. */
export class CelRefused extends Error {
  /** The message without the place. */
  readonly what: string;
  /** Where in the expression, in characters from its beginning; null where the message names no place. */
  readonly offset: number | null;

  constructor(what: string, place?: { readonly text: string; readonly offset: number }) {
    super(place === undefined ? what : `${placeAt(place.text, place.offset)}: ${what}`);
    this.name = 'CelRefused';
    this.what = what;
    this.offset = place?.offset ?? null;
  }
}

/** A place in a text, counted from 1: `character 3`, or `line 2, character 3`. */
export function placeAt(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  const character = (lines.at(-1)?.length ?? 0) + 1;
  return `${lines.length > 1 ? `line ${lines.length}, ` : ''}character ${character}`;
}

/** Longer names than this are not compared: they are rarely mistyped for each other. */
const NAME_MAX = 40;

/** The closest known name, as `; perhaps "x" is meant`, or an empty text if none is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  if (name.length > NAME_MAX) return '';
  const near = known
    .map((each) => ({ each, distance: editDistance(name.toLowerCase(), each.toLowerCase()) }))
    .filter(
      (row) => row.distance <= Math.ceil(Math.min(row.each.length, name.length) / 3) - (row.each.length < 3 ? 1 : 0),
    )
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near === undefined ? '' : `; perhaps "${near.each}" is meant`;
}
