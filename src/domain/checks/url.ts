import type { TargetSpec } from './kind.ts';

const HTTP = /^https?:\/\/[^\s\\]+$/i;

/** A URL of http or https in its canonical form, without credentials and fragment. Null for any other text. */
export function readUrl(text: string): TargetSpec | null {
  const url = HTTP.test(text) ? URL.parse(text) : null;
  if (url === null || url.port === '0') return null;
  const hasCredentials = url.username !== '' || url.password !== '';
  const credentials = hasCredentials ? `${url.username}:${url.password}` : null;
  url.username = '';
  url.password = '';
  url.hash = '';
  return { spec: url.href, credentials };
}

/** The URL that a target is probed at. */
export function withCredentials({ spec, credentials }: TargetSpec): string {
  return credentials === null ? spec : spec.replace('://', () => `://${credentials}@`);
}
