import { PatternReplacer, type Redactor } from './pattern-replacer.ts';
import type { PathForm } from './path-mask.ts';
import { secretForms } from './redaction-forms.ts';
import { PatternSearch } from './redaction-search.ts';

/** Replaces a secret value, on every face. */
export const REDACTED = '[redacted · secret]';
const NOTHING = Buffer.alloc(0);

/** The secret values of a run, made ready once for all its streams and texts. */
export interface SecretPatterns {
  readonly search: PatternSearch | undefined;
  /** By kind of pattern, what replaces it: that of values first. */
  readonly marks: readonly Buffer[];
}

/** `paths` are replaced by their words, all in one pass. Where one overlaps a value, the mark of the value is kept. */
export function compileSecrets(secrets: readonly Buffer[], paths: readonly PathForm[] = []): SecretPatterns {
  const marks = [REDACTED, ...new Set(paths.map(({ word }) => word))];
  const patterns = new Map<string, { readonly form: Buffer; readonly kind: number }>();
  for (const { form, word } of paths) {
    const bytes = Buffer.from(form);
    patterns.set(bytes.toString('latin1'), { form: bytes, kind: marks.indexOf(word) });
  }
  for (const form of secrets.flatMap(secretForms)) patterns.set(form.toString('latin1'), { form, kind: 0 });
  const rows = [...patterns.values()];
  const search =
    rows.length === 0
      ? undefined
      : PatternSearch.of(
          rows.map(({ form }) => form),
          rows.map(({ kind }) => kind),
        );
  return { search, marks: marks.map((mark) => Buffer.from(mark)) };
}

/** Whether a form of the value is in these bytes. Where none is, there is nothing of it to replace. */
export function isSecretIn(bytes: Buffer, secret: Buffer): boolean {
  return secretForms(secret).some((form) => bytes.includes(form));
}

const PASS: Redactor = { push: (chunk) => chunk, end: () => NOTHING };

/** Replaces every secret value in one stream of bytes. Never holds back more than the longest form less one byte. */
export function createRedactor(secrets: readonly Buffer[] | SecretPatterns): Redactor {
  const { search, marks } = 'search' in secrets ? secrets : compileSecrets(secrets);
  return search === undefined ? PASS : new PatternReplacer(search, marks);
}

/** The same for one string. Text without a secret comes back as it is, lone surrogates included. */
export function redactText(text: string, secrets: readonly Buffer[] | SecretPatterns): string {
  const redactor = createRedactor(secrets);
  const bytes = Buffer.from(text);
  const ready = redactor.push(bytes);
  const last = redactor.end();
  if (ready.length + last.length === bytes.length && bytes.equals(Buffer.concat([ready, last]))) return text;
  return Buffer.concat([ready, last]).toString();
}
