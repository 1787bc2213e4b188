import { PatternReplacer, type Redactor } from './pattern-replacer.ts';
import { LONGEST_VALUE_BYTES, secretForms, SHORT_BYTES } from './redaction-forms.ts';
import { PatternSearch } from './redaction-search.ts';

/** What stands in place of a secret value, on every face. */
export const REDACTED = '[redacted · secret]';
const MARK = Buffer.from(REDACTED);
const NOTHING = Buffer.alloc(0);

/**
 * Why a value is protected less than the others: `empty` (nothing, or line ends only: nothing is looked for), `short`
 * (below 6 bytes: the value itself is replaced wherever it stands, also within words; its encodings only where they are
 * 6 bytes or more) or `long` (only the first 32 KiB are looked for). `index` is its place in the list given.
 */
export interface SecretWarning {
  readonly index: number;
  readonly problem: 'empty' | 'short' | 'long';
}

/** The secret values of a run, made ready once for all its streams and texts. */
export interface SecretPatterns {
  readonly search: PatternSearch | undefined;
  readonly warnings: readonly SecretWarning[];
}

export function compileSecrets(secrets: readonly Buffer[]): SecretPatterns {
  const warnings: SecretWarning[] = [];
  const patterns = new Map<string, Buffer>();
  for (const [index, secret] of secrets.entries()) {
    const forms = secretForms(secret);
    for (const form of forms) patterns.set(form.toString('latin1'), form);
    const value = forms[0];
    if (value === undefined) warnings.push({ index, problem: 'empty' });
    else if (value.length < SHORT_BYTES) warnings.push({ index, problem: 'short' });
    else if (secret.length > LONGEST_VALUE_BYTES) warnings.push({ index, problem: 'long' });
  }
  return { search: patterns.size > 0 ? new PatternSearch([...patterns.values()]) : undefined, warnings };
}

const PASS: Redactor = { push: (chunk) => chunk, end: () => NOTHING };

/** Replaces every secret value in one stream of bytes. Never holds back more than the longest form less one byte. */
export function createRedactor(secrets: readonly Buffer[] | SecretPatterns): Redactor {
  const { search } = 'search' in secrets ? secrets : compileSecrets(secrets);
  return search === undefined ? PASS : new PatternReplacer(search, () => MARK);
}

/** The same for one string. Text without a secret comes back as it is, lone surrogates included. */
export function redactText(text: string, secrets: readonly Buffer[] | SecretPatterns): string {
  return replacedText(text, createRedactor(secrets));
}

/** One string through a replacer that was not used before. */
export function replacedText(text: string, redactor: Redactor): string {
  const bytes = Buffer.from(text);
  const ready = redactor.push(bytes);
  const rest = redactor.end();
  if (ready.length + rest.length === bytes.length && bytes.equals(Buffer.concat([ready, rest]))) return text;
  return Buffer.concat([ready, rest]).toString();
}
