import { hash } from 'node:crypto';
import { pathForms } from '../../domain/secrets/path-mask.ts';
import { compileSecrets, isSecretIn, REDACTED, redactText } from '../../domain/secrets/redaction.ts';
import { KeptValues } from '../../lib/caches/kept-values.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { storedSecrets } from '../../store/secrets/secrets.ts';
import type { Services } from '../core/services.ts';
import type { Store } from '../../store/store.ts';
import { replaceCredentials } from '../core/sections/kept.ts';

/** Where secrets are stored, and what opens them. */
export interface SecretPlace {
  readonly store: Pick<Store, 'db'>;
  readonly services: Pick<Services, 'keyring' | 'paths'>;
}

/** Characters, as JSON, of what was hidden before and is kept while no secret changes: an open page asks again. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;
/** Secrets that are looked for before others get a turn: 0.4 ms each. */
const AT_ONCE = 8;
/** In place of the mark, which has blanks, while credentials are looked for in URLs. */
const STAND_IN = '\0';

const kept = new WeakMap<SecretPlace['store'], KeptValues<unknown>>();

function keptOf(store: SecretPlace['store']): KeptValues<unknown> {
  const known = kept.get(store);
  if (known !== undefined) return known;
  const made = new KeptValues<unknown>({
    most: KEPT_CHARACTERS,
    sizeOf: (_key, value) => JSON.stringify(value).length,
  });
  kept.set(store, made);
  return made;
}

/**
 * Hides in each text and number of a value, names of fields too, what the output of a run would hide: here every stored
 * secret, since its author may have written the value of one that the run does not get, the directory of the service,
 * and the credentials of URLs. A number that is a secret becomes a text. Throws conflict where a secret cannot be
 * opened.
 */
export async function hideSecrets<T>({ store, services }: SecretPlace, value: T): Promise<T> {
  const secrets = await storedSecrets(store.db);
  const known = keptOf(store);
  const key = hash('sha256', JSON.stringify(value));
  const before = known.find(secrets.stamp, key);
  if (before !== undefined) return before as T;

  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  const inside = await secretsIn(texts, await secrets.open(() => services.keyring()));
  const patterns = compileSecrets(inside, pathForms({ run: '', data: [services.paths.dir] }));
  // A secret that is a part of a URL is found before its credentials are taken out.
  const hidden = mapTexts(value, (text) =>
    replaceCredentials(redactText(text, patterns).replaceAll(REDACTED, STAND_IN), STAND_IN).replaceAll(
      STAND_IN,
      REDACTED,
    ),
  );
  known.keep(secrets.stamp, key, hidden);
  return hidden as T;
}

/** Compiling takes 2 ms a secret, and most texts have none. */
async function secretsIn(texts: readonly string[], secrets: readonly Buffer[]): Promise<Buffer[]> {
  const bytes = Buffer.from(texts.join('\n\n'));
  const found: Buffer[] = [];
  for (const [at, secret] of secrets.entries()) {
    if (isSecretIn(bytes, secret)) found.push(secret);
    if (at % AT_ONCE === AT_ONCE - 1) await nextTurn();
  }
  return found;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value === 'number') return map(String(value)) === String(value) ? value : map(String(value));
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [map(name), mapTexts(each, map)]));
}
