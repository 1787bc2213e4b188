import { hash } from 'node:crypto';
import { pathForms } from '../../domain/secrets/path-mask.ts';
import { compileSecrets, isSecretIn, REDACTED, redactText } from '../../domain/secrets/redaction.ts';
import { KeptValues } from '../../lib/caches/kept-values.ts';
import { YieldTimer } from '../../lib/flow/cooperative.ts';
import { storedSecrets } from '../../store/secrets/secrets.ts';
import type { Services } from '../core/services.ts';
import type { Store } from '../../store/store.ts';
import { replaceCredentials } from '../core/sections/kept.ts';

/** What an order is read with. */
export interface OrderPlace {
  readonly store: Pick<Store, 'db'>;
  readonly services: Pick<Services, 'clock' | 'keyring' | 'paths'>;
}

/** Characters, as JSON, of what was hidden before and is kept while no secret changes: an open page asks again. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

const kept = new WeakMap<OrderPlace['store'], KeptValues<unknown>>();

/**
 * Hides in each text of a value, names of fields too, what the output of a run would hide: here every stored secret,
 * since its author may have written the value of one that the run does not get, the directory of the service, and the
 * credentials of URLs. Throws conflict where a secret cannot be opened.
 */
export async function hideSecrets<T>({ store, services }: OrderPlace, value: T): Promise<T> {
  const secrets = await storedSecrets(store.db);
  const known = kept.get(store) ?? new KeptValues({ most: KEPT_CHARACTERS, sizeOf: sizeOfHidden });
  kept.set(store, known);
  const key = hash('sha256', JSON.stringify(value));
  const before = known.find(secrets.stamp, key);
  if (before !== undefined) return before as T;

  const texts: string[] = [];
  const withoutCredentials = mapTexts(value, (text) => {
    const shown = replaceCredentials(text, REDACTED);
    texts.push(shown);
    return shown;
  });
  const inside = await secretsIn(texts, await secrets.open(() => services.keyring()), services.clock);
  const patterns = compileSecrets(inside, pathForms({ run: '', data: [services.paths.dir] }));
  const hidden = mapTexts(withoutCredentials, (text) => redactText(text, patterns));
  known.keep(secrets.stamp, key, hidden);
  return hidden as T;
}

function sizeOfHidden(key: string, value: unknown): number {
  return key.length + JSON.stringify(value).length;
}

/** Compiling takes 2 ms a secret, looking for one 0.4 ms, and most orders have none. */
async function secretsIn(
  texts: readonly string[],
  secrets: readonly Buffer[],
  clock: Services['clock'],
): Promise<Buffer[]> {
  const bytes = Buffer.from(texts.join('\n\n'));
  const breather = new YieldTimer(clock);
  const found: Buffer[] = [];
  for (const secret of secrets) {
    if (isSecretIn(bytes, secret)) found.push(secret);
    if (breather.isDue) await breather.breathe();
  }
  return found;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [map(name), mapTexts(each, map)]));
}
