import type { PlanInputs, VarFile } from '../../../domain/workspaces/inputs.ts';
import type { RunTools } from '../../runner.ts';
import { assignmentsOf } from './assignments.ts';

/** The words for variables, the files first. `use` keeps the files of two programs of one run apart. */
export async function inputWords(
  tools: Pick<RunTools<never>, 'placeInput'>,
  { varFiles, vars }: PlanInputs,
  use: 'plan' | 'apply',
): Promise<string[]> {
  const words: string[] = [];
  for (const [at, { name, text }] of varFiles.entries())
    words.push(`-var-file=${await tools.placeInput(`${use}-${at}-${name}`, Buffer.from(text))}`);
  return [...words, ...Object.entries(vars).map(([name, value]) => `-var=${name}=${value}`)];
}

/**
 * What of the inputs of a plan its apply needs again: a plan file has no value of an ephemeral variable, and takes no
 * other value of any variable that it has. What the run has of other places, as secrets, it has again by itself.
 */
export function inputsForApply({ vars, varFiles }: PlanInputs, names: readonly string[]): PlanInputs {
  const wanted = new Set(names);
  return {
    vars: Object.fromEntries(Object.entries(vars).filter(([name]) => wanted.has(name))),
    varFiles: varFiles.flatMap((file) => {
      const text = file.name.endsWith('.json') ? membersOf(file, wanted) : partOf(file, wanted);
      return text === '' ? [] : [{ name: file.name, text }];
    }),
  };
}

function partOf({ text }: VarFile, wanted: ReadonlySet<string>): string {
  return assignmentsOf(text)
    .filter(({ name }) => wanted.has(name))
    .map((each) => `${each.text}\n`)
    .join('');
}

/** What JSON of the language can do, and its types do not say. */
const EXACT_JSON = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
};

/** A number stays as it is written: it may be longer than one of this language. Empty for what is no object. */
function membersOf({ text }: VarFile, wanted: ReadonlySet<string>): string {
  let json: unknown;
  try {
    json = EXACT_JSON.parse(text, (_, value, { source }) =>
      typeof value === 'number' && source !== undefined ? EXACT_JSON.rawJSON(source) : value,
    );
  } catch {
    // The tool says which variable it lacks; the error of the parser quotes values.
    return '';
  }
  if (typeof json !== 'object' || json === null) return '';
  const kept = Object.entries(json).filter(([name]) => wanted.has(name));
  return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept));
}
