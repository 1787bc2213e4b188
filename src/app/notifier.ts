import type { NotifierOptions } from '../daemon/notify/send.ts';
import type { Services } from '../operations/core/services.ts';
import { guardedDial, resolvePublic } from '../dial/guard.ts';
import { sendToEndpoint } from '../push/endpoint.ts';
import { type VapidKey, vapidKeyOf } from '../push/vapid.ts';
import type { Base } from './base.ts';
import type { Transport } from '../push/transport.ts';

interface NotifierParts {
  readonly base: Pick<Base, 'clock' | 'settings' | 'sealKey'>;
  readonly targets: { readonly current: readonly Transport[] };
  /** The web listener's own URL, with the base path. */
  readonly webUrl: string;
  readonly services: Pick<Services, 'linkOrigin'>;
}

export function notifierOptions({ base, targets, webUrl, services }: NotifierParts): NotifierOptions {
  const { clock, settings } = base;
  const baseUrl = settings.publicUrl === null ? webUrl : `${settings.publicUrl}${settings.basePath}`;
  let key: VapidKey | undefined;
  const vapid = async (): Promise<VapidKey> => (key ??= vapidKeyOf(await base.sealKey()));
  const dial = guardedDial({ resolve: resolvePublic });
  return {
    transports: () => targets.current,
    sendToEndpoint: (target, message) => sendToEndpoint({ clock, dial, vapid, baseUrl }, target, message),
    detail: settings.pushDetail,
    baseUrl,
    services,
  };
}
