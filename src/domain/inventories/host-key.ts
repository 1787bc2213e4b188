import { createHash } from 'node:crypto';

/** A public key of a host. */
interface HostKey {
  /** As OpenSSH names it: `ssh-ed25519`. */
  readonly type: string;
  /** Base64. */
  readonly key: string;
}

/** As OpenSSH shows it: `SHA256:` and base64 without padding. */
export function fingerprint({ key }: Pick<HostKey, 'key'>): string {
  const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}
