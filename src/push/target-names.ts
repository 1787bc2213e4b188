import { createHmac } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import { NAME } from '../domain/name.ts';
import { readTargetUrl, type TargetKind, type TargetUrl } from './target-url.ts';

/** The default names of targets, followed by their number among the targets of their kind. */
const DEFAULT_NAMES: Readonly<Record<TargetKind, string>> = { ntfy: 'ntfy', mail: 'smtp', webhook: 'webhook' };

/** `NAME=` in front of a URL. No scheme has this form: a colon comes before anything that may hold `=`. */
const NAMED = /^([^=:/?#]*)=(.*)$/s;

interface NamedTarget extends TargetUrl {
  readonly name: string;
}

/**
 * Reads the targets of `--notify`, each `[NAME=]URL`. A target without a name gets that of its kind and its number
 * among the targets of this kind, named ones included. Throws invalid_argument without the URL, which may hold a
 * password.
 */
export function readTargets(texts: readonly string[]): NamedTarget[] {
  const counts = new Map<TargetKind, number>();
  const positions = new Map<string, number>();
  return texts.map((text, index) => {
    const position = index + 1;
    const { name: given, url } = splitName(text, position);
    const target = readTargetUrl(url, position);
    const count = (counts.get(target.kind) ?? 0) + 1;
    counts.set(target.kind, count);
    const name = given ?? `${DEFAULT_NAMES[target.kind]}-${count}`;
    const other = positions.get(name);
    if (other !== undefined)
      throw new Failure(
        'invalid_argument',
        `--notify: targets ${other} and ${position} have the same name ${name}; expected different names.`,
      );
    positions.set(name, position);
    return { ...target, name };
  });
}

/** The parts of `[NAME=]URL`; `name` is null where none is given. */
function splitName(text: string, position: number): { readonly name: string | null; readonly url: string } {
  const [, name, url = ''] = NAMED.exec(text) ?? [];
  if (name === undefined) return { name: null, url: text };
  if (NAME.test(name)) return { name, url };
  throw new Failure(
    'invalid_argument',
    `--notify: target ${position} has an invalid name before the =; expected 1 to 63 of a-z 0-9 . _ -, the ` +
      'first one a letter or digit.',
  );
}

/**
 * Identifies a target without revealing its URL: the same name and URL give the same key, whatever the credentials.
 * Keyed with the seal key, because the topic or path of a URL may be its only secret.
 */
export function targetKey({ name, kind, url }: NamedTarget, sealKey: Uint8Array): string {
  const { protocol, host, pathname, search } = url;
  return createHmac('sha256', sealKey)
    .update(JSON.stringify(['notify-target', name, kind, protocol, host, pathname, search]))
    .digest('hex');
}
