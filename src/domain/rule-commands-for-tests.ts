/** Commands of rules and what they are refused with, for the tests of programs and scripts. */
import assert from 'node:assert/strict';
import { ActionRefused, compileAction } from './rule-fill.ts';

/**
 * The words of a command as one would type them: an `X` that is in no word of capitals is what comes from the event,
 * and `'…'` holds one word together.
 */
function words(line: string): string[] {
  return Array.from(line.matchAll(/'([^']*)'|\S+/g), ([whole, quoted]) =>
    (quoted ?? whole).replaceAll(/(?<![A-Z])X(?![A-Z_])/g, '${event.name}'),
  );
}

export async function refusal(line: string): Promise<string | null> {
  try {
    await compileAction({ kind: 'command', command: words(line), inventory: 'localhost', limit: null, timeout: null });
    return null;
  } catch (error) {
    assert.ok(error instanceof ActionRefused, line);
    return error.message;
  }
}

export async function refusedEach(lines: readonly string[], why: RegExp): Promise<void> {
  for (const line of lines) assert.match((await refusal(line)) ?? 'taken', why, line);
}

export async function takenEach(lines: readonly string[]): Promise<void> {
  for (const line of lines) assert.equal(await refusal(line), null, line);
}

export const PROGRAM = /^command: \$\{…\} where a program is named would let the event choose the program/;
export const SCRIPT = /^command: \$\{…\} in a script would let the event write the program/;
export const CLOSED = /^command: \$\{…\} there could let the event choose or write what [A-Za-z0-9-]+ runs/;
export const OPTION = /^command: \$\{…\} there would let the event write the name of an option/;
