import type { YamlMap } from '../yaml/file.ts';
import { FLAG } from './action-row.ts';
import { readFlag } from './reach.ts';

/** Whether who decides about an order reads its words. Left out where it does. */
export interface Reveal {
  readonly reveal?: false | undefined;
}

export const REVEAL_SCHEMA = { reveal: FLAG };

/** Only what says something, as it is stored. */
export function givenReveal({ reveal }: { readonly reveal?: boolean | undefined }): Reveal {
  return reveal === false ? { reveal } : {};
}

/** Reads the field of a file. Throws invalid_argument. */
export function readReveal(map: YamlMap, prefix: string): Reveal {
  return givenReveal({ reveal: readFlag(map, 'reveal', prefix, true) });
}
