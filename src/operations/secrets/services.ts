import type { SealKeeper } from '../../lib/seal.ts';

declare module '../core/services.ts' {
  interface Services {
    /** The key file itself, for who rotates or examines it. */
    readonly seal: SealKeeper;
  }
}
