import { Failure } from '../../domain/failure.ts';
import { EXTRA_VARS_BYTES_MAX, extraVarsFault } from '../../domain/playbooks/extra-vars.ts';
import { type Json, mapOf } from '../../domain/yaml/json.ts';
import { readYaml, type YamlLimits } from '../../domain/yaml/file.ts';

type Vars = Readonly<Record<string, Json>>;

/** The variables are bounded once they are read: a file may have blanks and comments. */
const LIMITS: YamlLimits = {
  bytesMax: 4 * EXTRA_VARS_BYTES_MAX,
  bracketsMax: 10_000,
  tokensMax: 32_000,
  depthMax: 60,
  aliases: true,
};

/** The variables of a run: those of a file, if any, and the given ones, which come first. Throws invalid_argument. */
export async function withVarsText(text: string | undefined, given: Vars): Promise<Vars> {
  if (text === undefined) return given;
  const vars = { ...(text.trimStart().startsWith('{') ? ofJson(text) : await ofYaml(text)), ...given };
  const fault = extraVarsFault(vars);
  if (fault !== null) throw new Failure('invalid_argument', `extra_vars_file: ${fault}.`);
  return vars;
}

function ofJson(text: string): Vars {
  try {
    return JSON.parse(text) as Vars;
  } catch {
    throw new Failure('invalid_argument', 'extra_vars_file: the file begins with "{" and is not JSON.');
  }
}

async function ofYaml(text: string): Promise<Vars> {
  const file = await readYaml(text, LIMITS).catch((error: unknown) => {
    if (error instanceof Failure) throw new Failure(error.code, `extra_vars_file: ${error.message}`);
    throw error;
  });
  if (file.kind !== 'map')
    throw new Failure('invalid_argument', 'extra_vars_file: expected variables with their values, as YAML or JSON.');
  return mapOf(file);
}
