import type { Keyring } from '../../lib/seal.ts';
import type { Db } from '../../store/schema/schema.ts';
import { readSecrets } from '../../store/secrets/secrets.ts';

/** The private key of an inventory, from the secret that it names, as the text of a file that OpenSSH reads. */
export async function sshKeyOf(db: Db, ring: Keyring, secret: string): Promise<Buffer | null> {
  const key = (await readSecrets(db, ring, { key: secret })).get('key');
  return key === undefined ? null : wholeKey(key);
}

/** OpenSSH reads no key without the end of its last line, which a stored secret does not have. */
function wholeKey(key: Buffer): Buffer {
  return Buffer.from(`${key.toString('latin1').replaceAll('\r\n', '\n').trimEnd()}\n`, 'latin1');
}
