import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { mustHold } from './invariants/invariants.ts';
import { randomBytes } from './random.ts';

/** Sealing: AES-256-GCM, where the label (what the thing is and whose) is authenticated with the content. */

/** The sealed data was altered, belongs to another label, or was sealed with a key that is not in the key file. */
export class SealBroken extends Error {
  readonly fault: 'altered' | 'unknown key';

  constructor(fault: 'altered' | 'unknown key') {
    super(
      fault === 'altered'
        ? 'the sealed data was altered or belongs to another item'
        : 'it was sealed with a key that is not in the key file',
    );
    this.name = 'SealBroken';
    this.fault = fault;
  }
}

export interface Keyring {
  /** Names the key that seals now; 16 hex digits that reveal nothing about the key. */
  readonly activeId: string;
  /** When it was made, in milliseconds since the epoch; null where the file does not contain it. */
  readonly activeSince: number | null;
  seal(label: readonly string[], plain: Uint8Array): Uint8Array;
  /** Throws SealBroken. */
  open(label: readonly string[], sealed: Uint8Array): Uint8Array;
  has(keyId: string): boolean;
  /** HMAC-SHA256 of the text in hex, by the active key's key for `purpose`. */
  mac(purpose: MacPurpose, text: string): string;
  /** As `mac`, by the key with this id; null where that key is unknown. */
  macBy(keyId: string, purpose: MacPurpose, text: string): string | null;
}

/** The purposes of `mac`. Each has its own key. */
type MacPurpose = 'ledger' | 'order';

/** The key file. */
export interface SealKeeper {
  /** Reads the file again if it has changed. Creates a missing file if no earlier key is needed. Throws Failure. */
  keyring(): Promise<Keyring>;
  /** As `keyring`, read-only: null where no file exists; none is created. */
  find(): Promise<Keyring | null>;
  /** Adds a new key, which seals from now on; the older ones still open. */
  rotate(): Promise<Keyring>;
  /** The content of the file, for an export. Throws Failure. */
  text(): Promise<string>;
}

/** One key of the file: `key` has 32 bytes, `createdAt` is in milliseconds since the epoch where it is known. */
export interface SealFileKey {
  readonly key: Uint8Array;
  readonly createdAt: number | null;
}

export const SEAL_ALGORITHM = 'aes-256-gcm';

/** The prefix of sealed data, which distinguishes this format from later ones. */
const MAGIC = Buffer.from('GHS1', 'latin1');
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
/** The size that GCM is made for. The chance that two of 2^32 items of one key share a nonce is 2^-33. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = MAGIC.length + KEY_ID_BYTES;
/** The bytes that sealing adds to the content. */
export const SEAL_OVERHEAD_BYTES = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;

/** Content of this length equals its sealed form by chance once in 2^128. */
const NOTICED_BYTES = 16;

interface RingKey {
  readonly id: string;
  readonly idBytes: Buffer;
  readonly secret: KeyObject;
  readonly macKeys: Readonly<Record<MacPurpose, KeyObject>>;
  readonly createdAt: number | null;
}

/**
 * Seals with the last of `keys` and opens with each of them. Sealed data is `GHS1` | 8 bytes key id | 12 bytes nonce |
 * 16 bytes tag | ciphertext, and the magic, the key id and the label are authenticated with it. The keys are never used
 * directly: HKDF derives a sealing key and an id from each, because the first one also keys the hashes of tokens.
 *
 * Throws an Error without any key, or for a key of another length than 32 bytes.
 */
export function createKeyring(keys: readonly SealFileKey[]): Keyring {
  const ring = new Map(keys.map(ringKey).map((each) => [each.id, each]));
  const active = [...ring.values()].at(-1);
  if (active === undefined) throw new Error('a keyring needs a key');
  return {
    activeId: active.id,
    activeSince: active.createdAt,
    seal: (label, plain) => seal(active, label, plain),
    open: (label, sealed) => open(ring, label, sealed),
    has: (keyId) => ring.has(keyId),
    mac: (purpose, text) => mac(active, purpose, text),
    macBy(keyId, purpose, text) {
      const key = ring.get(keyId);
      return key === undefined ? null : mac(key, purpose, text);
    },
  };
}

function ringKey({ key, createdAt }: SealFileKey): RingKey {
  if (key.length !== KEY_BYTES) throw new Error(`a seal key must have ${KEY_BYTES} bytes`);
  const id = hash('sha256', derive(key, 'gatehouse seal id').export()).slice(0, KEY_ID_BYTES * 2);
  return {
    id,
    idBytes: Buffer.from(id, 'hex'),
    secret: derive(key, 'gatehouse seal'),
    macKeys: { ledger: derive(key, 'gatehouse ledger'), order: derive(key, 'gatehouse order') },
    createdAt,
  };
}

function mac({ macKeys }: RingKey, purpose: MacPurpose, text: string): string {
  return createHmac('sha256', macKeys[purpose]).update(text).digest('hex');
}

function derive(key: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, new Uint8Array(0), purpose, KEY_BYTES)));
}

/** JSON of the list: no two labels have the same bytes. */
function associated(idBytes: Uint8Array, label: readonly string[]): Buffer {
  return Buffer.concat([MAGIC, idBytes, Buffer.from(JSON.stringify(label), 'utf8')]);
}

function seal({ id, idBytes, secret }: RingKey, label: readonly string[], plain: Uint8Array): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(SEAL_ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associated(idBytes, label));
  const content = cipher.update(plain);
  // In this mode the end adds nothing to the content, and the tag is there only after it.
  cipher.final();
  const sealed = Buffer.concat([MAGIC, idBytes, nonce, cipher.getAuthTag(), content]);
  const isOpen = plain.length >= NOTICED_BYTES && content.subarray(0, NOTICED_BYTES).equals(head(plain));
  mustHold('seal.hides', { key: keyIdOf(sealed), active: id, isOpen });
  return sealed;
}

function head(plain: Uint8Array): Uint8Array {
  return plain.subarray(0, NOTICED_BYTES);
}

function open(ring: ReadonlyMap<string, RingKey>, label: readonly string[], sealed: Uint8Array): Uint8Array {
  const keyId = keyIdOf(sealed);
  if (keyId === null) throw new SealBroken('altered');
  const found = ring.get(keyId);
  if (found === undefined) throw new SealBroken('unknown key');
  const nonce = sealed.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv(SEAL_ALGORITHM, found.secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associated(found.idBytes, label));
  decipher.setAuthTag(sealed.subarray(HEAD_BYTES + NONCE_BYTES, SEAL_OVERHEAD_BYTES));
  const plain = decipher.update(sealed.subarray(SEAL_OVERHEAD_BYTES));
  try {
    decipher.final();
  } catch {
    // The text is not authentic: it must not leave this function.
    plain.fill(0);
    throw new SealBroken('altered');
  }
  mustHold('seal.length', { bytes: plain.length, sealed: sealed.length, overhead: SEAL_OVERHEAD_BYTES });
  return plain;
}

/** The id of the key that the data was sealed with; null for data that is not sealed. */
export function keyIdOf(sealed: Uint8Array): string | null {
  if (sealed.length < SEAL_OVERHEAD_BYTES || !MAGIC.equals(sealed.subarray(0, MAGIC.length))) return null;
  return Buffer.from(sealed.subarray(MAGIC.length, HEAD_BYTES)).toString('hex');
}
