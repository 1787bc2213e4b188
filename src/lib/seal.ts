/** Sealing: AES-256-GCM, where the label (what the thing is and whose) is authenticated with the content. */

/** What was sealed was altered, belongs to another label, or was sealed with a key that is not here. */
export class SealBroken extends Error {
  readonly fault: 'altered' | 'unknown key';

  constructor(fault: 'altered' | 'unknown key') {
    super(fault === 'altered' ? 'what was sealed was altered or belongs to something else' : 'it was sealed with a key that is not here');
    this.name = 'SealBroken';
    this.fault = fault;
  }
}

export interface Keyring {
  /** Names the key that seals now; 16 hex digits that say nothing about the key. */
  readonly activeId: string;
  /** When it was made, in milliseconds since the epoch; null where the file does not say. */
  readonly activeSince: number | null;
  seal(label: readonly string[], plain: Uint8Array): Uint8Array;
  /** Throws SealBroken, having answered nothing. */
  open(label: readonly string[], sealed: Uint8Array): Uint8Array;
  /** Names the key that something was sealed with; null for what is no sealed thing. */
  keyIdOf(sealed: Uint8Array): string | null;
  has(keyId: string): boolean;
}

/** The key file. */
export interface SealKeeper {
  /** Reads the file again where it has changed; makes it where there is none yet and the store needs none. Throws Failure. */
  keyring(): Promise<Keyring>;
  /** Adds a new key, which seals from now on; the older ones still open. */
  rotate(): Promise<Keyring>;
}
