import { EVENT_LIMITS } from '../events/event.ts';

/**
 * The forms of a value of an event in a word of a command or in a variable of a playbook: no program can read it as an
 * option, a list, a pattern or code.
 */

/** 253 characters: the longest host name. */
const NAME_VALUE = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,252}$/;
/** Shorter than the length at which a label is cut: a cut path names another directory. */
export const PATH_CHARACTERS_MAX = EVENT_LIMITS.valueCharacters - 1;
const PATH_VALUE = new RegExp(String.raw`^/[A-Za-z0-9_.:@/-]{0,${PATH_CHARACTERS_MAX - 1}}$`);
const PARENT = /(?:^|\/)\.\.(?:\/|$)/;

export function isNameValue(text: string): boolean {
  return NAME_VALUE.test(text);
}

/** Whether it is an absolute path without `..`. */
export function isPathValue(text: string): boolean {
  return PATH_VALUE.test(text) && !PARENT.test(text);
}
