import type { HostKey } from '../../domain/inventories/host-key.ts';

declare module '../core/services.ts' {
  interface Services {
    readonly hostKeys: HostKeyScanner;
  }
}

/** Asks hosts for their public keys. */
export interface HostKeyScanner {
  /** Throws `unavailable` for one that does not answer. */
  scan(target: { readonly address: string; readonly port: number }): Promise<readonly HostKey[]>;
}
