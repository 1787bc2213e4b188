import { pathForms } from '../../domain/secrets/path-mask.ts';
import { compileSecrets, REDACTED, redactText } from '../../domain/secrets/redaction.ts';
import { readAllSecrets } from '../../store/secrets/secrets.ts';
import type { Services } from '../core/services.ts';
import type { Store } from '../../store/store.ts';
import { replaceCredentials } from '../core/sections/kept.ts';

/** What an order is read with. */
export interface OrderPlace {
  readonly store: Pick<Store, 'db'>;
  readonly services: Pick<Services, 'keyring' | 'paths'>;
}

/**
 * Hides in each text of a value, names of fields too, what the output of a run would hide: here every stored secret,
 * since its author may have written the value of one that the run does not get, the directory of the service, and the
 * credentials of URLs. Throws conflict where a secret cannot be opened.
 */
export async function orderRedactor({ store, services }: OrderPlace): Promise<<T>(value: T) => T> {
  const secrets = await readAllSecrets(store.db, () => services.keyring());
  const patterns = compileSecrets(secrets, pathForms({ run: '', data: [services.paths.dir] }));
  const hide = (text: string): string => redactText(replaceCredentials(text, REDACTED), patterns);
  return (value) => mapTexts(value, hide) as typeof value;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [map(name), mapTexts(each, map)]));
}
