import type { Json } from '../../domain/yaml/json.ts';

/**
 * Variables as YAML for `--extra-vars=@FILE`. Every text is `!unsafe`: Ansible prints it and passes it on, and never
 * takes it as a template, which could run programs on this machine. The file has ASCII only, since YAML refuses some
 * characters that JSON may hold.
 */
export function varsFile(vars: Readonly<Record<string, Json>>): string {
  return `${mapText(Object.entries(vars))}\n`;
}

function valueText(value: Json): string {
  if (typeof value === 'string') return `!unsafe ${quoted(value)}`;
  if (typeof value === 'number') return numberText(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(valueText).join(', ')}]`;
  return mapText(Object.entries(value));
}

/** Keys are no templates for Ansible. A key marked as unsafe would not be found by its text. */
function mapText(entries: readonly (readonly [string, Json])[]): string {
  return `{${entries.map(([key, value]) => `${quoted(key)}: ${valueText(value)}`).join(', ')}}`;
}

/** YAML 1.1 takes 1e5 as a text, so what is no plain whole number says its type. */
function numberText(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : `!!float "${value}"`;
}

/** A text in double quotes, where YAML knows \xNN, \uNNNN and \UNNNNNNNN. */
function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^ -~]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x7f && code >= 0x20) return `\\${character}`;
    if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`;
    return code > 0xff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\x${code.toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
