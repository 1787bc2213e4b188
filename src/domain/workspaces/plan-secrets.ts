import { entriesOf, type JsonObject, jsonOf, type Leaf, leafTexts, listOf, memberOf } from './plan-json.ts';
import { eachLeaf, eachMasked } from './plan-masks.ts';
import { LONGEST_VALUE_BYTES, secretForms, withoutLineEnds } from '../secrets/redaction-forms.ts';
import { PatternSearch } from '../secrets/redaction-search.ts';

/** Whether a string of the plan may not be shown. */
export type Hides = (text: string) => boolean;

/**
 * A shorter value hides the strings that equal it, but not those that contain it: an `a` or a `1` is in nearly every
 * string, and a plan without its strings cannot be reviewed. The same holds for a number, by its digits. A bool is
 * hidden only in the resource that masks it: one sensitive flag must not hide every `true` of the plan.
 */
export const CONTAINS_MIN_BYTES = 4;

/**
 * Masked values, shortest first, are searched for in every form (base64, hex, ...) up to this sum of bytes, about 500
 * passwords; beyond it, only as they are. A plan of 5,000 passwords took 0.75 s in all, with twice as many in every
 * form 1.1 s.
 */
const EVERY_FORM_BYTES = 16 * 1024;
/**
 * The other values are cut to their leading bytes, so that their sum stays below this. A text that contains a value
 * contains its start, so a cut hides more, never less. A byte of a pattern costs 36 bytes of memory and 0.3 us.
 */
const PATTERNS_BYTES = 512 * 1024;
/** With less of each value, strings would be hidden that have nothing to do with it. */
const CUT_MIN_BYTES = 16;

/** What hides all values that the plan masks, and the `secrets` of the run; see `maskedTexts`. */
export function findSecrets(plan: JsonObject, secrets: readonly Buffer[], secretVariables: readonly string[]): Hides {
  return hiding(maskedTexts(plan, secrets, secretVariables), secrets);
}

/**
 * All values that the plan masks, and the parts of `secrets` of the run that are JSON, so that a value is also hidden
 * where terraform repeats it without its mask. `secretVariables`: names of variables that came from secrets of the run,
 * marked or not. Without bools, and numbers of fewer than CONTAINS_MIN_BYTES digits.
 */
export function maskedTexts(
  plan: JsonObject,
  secrets: readonly Buffer[],
  secretVariables: readonly string[],
): ReadonlySet<string> {
  const masked = new Set<string>();
  const add = (leaf: Leaf): void => {
    if (typeof leaf === 'boolean') return;
    const shortest = typeof leaf === 'string' ? 1 : CONTAINS_MIN_BYTES;
    for (const text of leafTexts(leaf)) if (text.length >= shortest) masked.add(text);
  };
  eachMaskedOfPlan(plan, add);
  for (const name of secretVariables) eachLeaf(memberOf(memberOf(memberOf(plan, 'variables'), name), 'value'), add);
  for (const secret of secrets) eachLeafOfJson(secret, add);
  return masked;
}

function eachMaskedOfPlan(plan: JsonObject, add: (leaf: Leaf) => void): void {
  for (const list of ['resource_changes', 'resource_drift']) {
    for (const change of listOf(plan[list], list)) eachMaskedOfChange(memberOf(change, 'change'), add);
  }
  for (const deferred of listOf(plan['deferred_changes'], 'deferred_changes')) {
    eachMaskedOfChange(memberOf(memberOf(deferred, 'resource_change'), 'change'), add);
  }
  for (const [, change] of entriesOf(plan['output_changes'], 'output_changes')) eachMaskedOfChange(change, add);
  for (const values of [plan['planned_values'], memberOf(plan['prior_state'], 'values')]) {
    for (const [, output] of entriesOf(memberOf(values, 'outputs'), 'outputs')) {
      eachMasked(memberOf(output, 'value'), memberOf(output, 'sensitive'), add);
    }
    eachMaskedOfModule(memberOf(values, 'root_module'), add);
  }
  const root = memberOf(plan['configuration'], 'root_module');
  for (const [name, variable] of entriesOf(memberOf(root, 'variables'), 'variables')) {
    if (memberOf(variable, 'sensitive') !== true) continue;
    const given = memberOf(plan['variables'], name);
    eachLeaf(given === undefined ? memberOf(variable, 'default') : memberOf(given, 'value'), add);
  }
  eachConstantOfCalls(root, add);
}

/** Calls `found` with each leaf that the masks of a change mark. A missing mask marks everything. */
export function eachMaskedOfChange(change: unknown, found: (leaf: Leaf) => void): void {
  eachMasked(memberOf(change, 'before'), memberOf(change, 'before_sensitive') ?? true, found);
  eachMasked(memberOf(change, 'after'), memberOf(change, 'after_sensitive') ?? true, found);
}

function eachMaskedOfModule(module: unknown, add: (leaf: Leaf) => void): void {
  for (const resource of listOf(memberOf(module, 'resources'), 'resources')) {
    eachMasked(memberOf(resource, 'values'), memberOf(resource, 'sensitive_values'), add);
  }
  for (const child of listOf(memberOf(module, 'child_modules'), 'child_modules')) eachMaskedOfModule(child, add);
}

/** What a configuration hands as a constant to a sensitive variable of a module. */
function eachConstantOfCalls(module: unknown, add: (leaf: Leaf) => void): void {
  for (const [, call] of entriesOf(memberOf(module, 'module_calls'), 'module_calls')) {
    const called = memberOf(call, 'module');
    for (const [name, variable] of entriesOf(memberOf(called, 'variables'), 'variables')) {
      if (memberOf(variable, 'sensitive') !== true) continue;
      eachLeaf(memberOf(memberOf(memberOf(call, 'expressions'), name), 'constant_value'), add);
    }
    eachConstantOfCalls(called, add);
  }
}

/** A secret that is given to a variable of a list or object is JSON, and the plan shows its parts. */
function eachLeafOfJson(secret: Buffer, add: (leaf: Leaf) => void): void {
  eachLeaf(jsonOf(secret.toString()), add);
}

function hiding(masked: ReadonlySet<string>, secrets: readonly Buffer[]): Hides {
  const exact = new Set<string>();
  for (const text of [...masked, ...secrets.map(String)]) {
    exact.add(text);
    exact.add(withoutLineEnds(Buffer.from(text)).toString());
  }
  exact.delete('');
  const patterns = new Map<string, Buffer>();
  for (const form of [...secrets.flatMap(secretForms), ...patternsOf(masked)]) {
    if (form.length >= CONTAINS_MIN_BYTES) patterns.set(form.toString('latin1'), form);
  }
  if (patterns.size === 0) return (text) => exact.has(text);
  const search = PatternSearch.of([...patterns.values()]);
  return (text) => {
    if (exact.has(text)) return true;
    let found = false;
    search.scan(Buffer.from(text), 0, () => {
      found = true;
    });
    return found;
  };
}

function patternsOf(masked: ReadonlySet<string>): Buffer[] {
  const values = [...masked].map((text) => withoutLineEnds(Buffer.from(text)));
  values.sort((a, b) => a.length - b.length);
  let total = 0;
  const whole = values.findIndex((value) => (total += value.length) > EVERY_FORM_BYTES);
  if (whole < 0) return values.flatMap(secretForms);
  const others = values.slice(whole);
  let cut = LONGEST_VALUE_BYTES;
  while (cut > CUT_MIN_BYTES && others.reduce((sum, value) => sum + Math.min(value.length, cut), 0) > PATTERNS_BYTES)
    cut /= 2;
  return [...values.slice(0, whole).flatMap(secretForms), ...others.map((value) => value.subarray(0, cut))];
}
