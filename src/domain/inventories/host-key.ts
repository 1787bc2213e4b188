import { createHash } from 'node:crypto';
import { type Connection, SSH_PORT } from './connection.ts';

/** A public key of a host. */
export interface HostKey {
  /** As OpenSSH names it: `ssh-ed25519`. */
  readonly type: string;
  /** Base64. */
  readonly key: string;
}

/** The types that a host may be known by: not those that OpenSSH has given up, and no certificates. */
const TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa'];
const KEY = /^(?<type>[a-z0-9-]+) (?<key>[A-Za-z0-9+/]{40,5000}={0,2})$/;
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;

/** Reads `TYPE BASE64`; null for anything else, and where the key does not say that it is of this type. */
export function readHostKey(text: string): HostKey | null {
  const { type = '', key = '' } = KEY.exec(text.trim())?.groups ?? {};
  if (!TYPES.includes(type)) return null;
  const bytes = Buffer.from(key, 'base64');
  const named = bytes.subarray(4, 4 + type.length).toString('latin1');
  return bytes.length > 4 && bytes.readUInt32BE(0) === type.length && named === type ? { type, key } : null;
}

/** As OpenSSH shows it: `SHA256:` and base64 without padding. */
export function fingerprint({ key }: Pick<HostKey, 'key'>): string {
  const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

export function isFingerprint(text: string): boolean {
  return FINGERPRINT.test(text);
}

/**
 * Lines for the file known_hosts of OpenSSH. A host is found by the name that it has in the inventory, which ssh is
 * given as HostKeyAlias, and by its address and port.
 */
export function knownHosts(
  hosts: readonly Pick<Connection, 'host' | 'address' | 'port'>[],
  keys: ReadonlyMap<string, readonly HostKey[]>,
): string {
  const lines = hosts.flatMap(({ host, address, port }) => {
    const at = port === SSH_PORT ? address : `[${address}]:${port}`;
    const names = [...new Set([host, at].map((name) => name.toLowerCase()))].join(',');
    return (keys.get(host) ?? []).map(({ type, key }) => `${names} ${type} ${key}\n`);
  });
  return lines.join('');
}

/** Why ssh did not accept the key that it got, if its messages say that the key has changed; else null. */
export function changedKeyReason(messages: string): string | null {
  return /HOST IDENTIFICATION HAS CHANGED/.test(messages)
    ? 'its host key has changed, and the new one was not accepted'
    : null;
}
