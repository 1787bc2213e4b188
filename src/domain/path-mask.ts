import { chained, PatternReplacer, type Redactor } from './pattern-replacer.ts';
import { createRedactor, redactText, type SecretPatterns } from './redaction.ts';
import { PatternSearch } from './redaction-search.ts';

/** What stands in recorded output in place of the directory of the run, and of the data directory. */
const RUN_WORD = '[run]';
const DATA_WORD = '[data]';

/** Folders whose place on the machine is not for readers of a job's output. Absolute, without a slash at the end. */
export interface HiddenFolders {
  readonly run: string;
  /** The data directory, and the folder of all runs. */
  readonly data: readonly string[];
}

/** The patterns of paths, made ready once for all streams and texts of a run. */
export interface PathPatterns {
  readonly search: PatternSearch;
  /** Longest pattern first. */
  readonly words: readonly (readonly [length: number, word: Buffer])[];
}

/** `secrets` are those that are replaced before: a value that is a part of a path leaves its mark in the path. */
export function compilePaths({ run, data }: HiddenFolders, secrets: SecretPatterns): PathPatterns | null {
  const patterns = new Map<string, string>();
  for (const path of data) for (const [form, word] of formsOf(path, DATA_WORD)) patterns.set(form, word).set(redactText(form, secrets), word);
  for (const [form, word] of formsOf(run, RUN_WORD)) patterns.set(form, word).set(redactText(form, secrets), word);
  if (patterns.size === 0) return null;
  const rows = [...patterns].map(([form, word]) => ({ form: Buffer.from(form), word: Buffer.from(word) }));
  rows.sort((a, b) => b.form.length - a.form.length);
  return { search: new PatternSearch(rows.map(({ form }) => form)), words: rows.map(({ form, word }) => [form.length, word]) };
}

/** Replaces secret values, then paths: the other way round a value that holds a path would be broken up, and its rest would stay. */
export function createCleaner(secrets: SecretPatterns, paths: PathPatterns | null): Redactor {
  const redactor = createRedactor(secrets);
  if (paths === null) return redactor;
  // Of paths that overlap, the longest decides: the directory of a run lies in the data directory.
  const wordOf = (length: number): Buffer => paths.words.find(([least]) => least <= length)?.[1] ?? Buffer.from(DATA_WORD);
  return chained(redactor, new PatternReplacer(paths.search, wordOf));
}

/** As it is, as JSON and as a URL has it. A folder directly below the root, such as `/data`, only where a name follows: `/database` is another. */
function formsOf(path: string, word: string): readonly (readonly [form: string, word: string])[] {
  const names = path.split('/').filter((name) => name !== '');
  if (names.length === 0) return [];
  const end = names.length === 1 ? '/' : '';
  const forms = new Set([path, JSON.stringify(path).slice(1, -1), encodeURI(path)]);
  return Array.from(forms, (form) => [form + end, word + end]);
}
