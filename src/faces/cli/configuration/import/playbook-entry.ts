import type { Entry } from '../../../../domain/configuration/change.ts';
import { Failure } from '../../../../domain/failure.ts';
import { isCredentialName } from '../../../../domain/secrets/credential-name.ts';
import { readYaml, YAML_LIMITS } from '../../../../domain/yaml/file.ts';
import { type Json, jsonOf } from '../../../../domain/yaml/json.ts';
import { type Fields, LeftOut } from './reading/fields.ts';

export type Vars = Readonly<Record<string, unknown>>;

/** What a schedule of a playbook says. */
interface PlaybookRun {
  readonly cron: string;
  readonly timezone?: string;
  readonly playbook: string;
  readonly source: string;
  readonly inventory: string;
  readonly check: boolean;
  readonly diff: boolean;
  readonly limit: string | null;
  readonly tags: readonly string[];
  readonly skipTags: readonly string[];
  readonly extraVars: Vars;
  readonly timeoutSeconds: number | null;
}

const ENCRYPTED = '$encrypted$';
const NO_FIELDS = /^(?:---)?(?:\s*#.*)?$/;

export function playbookEntry(run: PlaybookRun): Entry {
  const { cron, timezone, playbook, source, inventory, check, diff, limit, tags, skipTags } = run;
  requireNoCredential(run.extraVars);
  return {
    cron,
    ...(timezone === undefined ? {} : { timezone }),
    playbook,
    source,
    inventory,
    ...(check ? { check } : {}),
    ...(diff ? { diff } : {}),
    ...(limit === null ? {} : { limit }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(skipTags.length === 0 ? {} : { skip_tags: skipTags }),
    ...(Object.keys(run.extraVars).length === 0 ? {} : { extra_vars: run.extraVars }),
    ...(run.timeoutSeconds === null || run.timeoutSeconds === 0 ? {} : { timeout: `${run.timeoutSeconds}s` }),
  };
}

/** The words between commas. */
export function wordsIn(text: string | null): readonly string[] {
  return text === null ? [] : text.split(',').map((word) => word.trim());
}

/** Variables in a field: an object, or its text in YAML or JSON. */
export async function variablesIn(fields: Fields, name: string): Promise<Vars> {
  const value = fields.whole(name);
  if (!fields.has(name)) return {};
  const read = typeof value === 'string' ? await parsed(name, value) : value;
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw new LeftOut(`its field ${name} has no names of variables`);
  return { ...read };
}

async function parsed(name: string, text: string): Promise<Json> {
  if (text.split('\n').every((line) => NO_FIELDS.test(line.trim()))) return {};
  try {
    return jsonOf(await readYaml(text, { ...YAML_LIMITS, aliases: true }));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new LeftOut(`its field ${name} cannot be read (${error.message.replace(/\.$/, '')})`);
  }
}

/** The file is no place for a credential, and the run may not be as it was without it. */
function requireNoCredential(vars: Vars): void {
  JSON.stringify(vars, (name, value: unknown) => {
    const isNamed = isCredentialName(name) && value !== null && value !== '' && !isTemplate(value);
    if (value === ENCRYPTED || isNamed)
      throw new LeftOut(`its variable ${name.slice(0, 80)} may be a credential; keep it with svc secret set`);
    return value;
  });
}

/** A variable that takes its value from another one. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && /^\{\{[^{}]*\}\}$/.test(value);
}
