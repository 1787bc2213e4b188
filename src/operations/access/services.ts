import type { Authenticator } from './authenticate.ts';

declare module '../core/services.ts' {
  interface Services {
    /** Makes the secret part of a token: salted, memory-hard, keyed by the seal key file. */
    readonly hashToken: Authenticator['hashToken'];
  }
}
