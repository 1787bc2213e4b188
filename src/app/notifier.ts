import type { Settings } from '../config/settings/settings.ts';
import type { NotifierOptions } from '../daemon/notify/send.ts';
import type { Clock } from '../lib/clock.ts';
import type { Services } from '../operations/core/services.ts';
import { guardedDial, resolvePublic } from '../dial/guard.ts';
import { sendToEndpoint } from '../push/endpoint.ts';
import type { Transport } from '../push/transport.ts';

interface NotifierParts {
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'publicUrl' | 'basePath' | 'pushDetail'>;
  readonly targets: { readonly current: readonly Transport[] };
  /** The web listener's own URL, with the base path. */
  readonly webUrl: string;
  readonly services: Pick<Services, 'linkOrigin'>;
}

export function notifierOptions({ clock, settings, targets, webUrl, services }: NotifierParts): NotifierOptions {
  const dial = guardedDial({ resolve: resolvePublic });
  return {
    transports: () => targets.current,
    sendToEndpoint: (target, message) => sendToEndpoint({ clock, dial }, target, message),
    detail: settings.pushDetail,
    baseUrl: settings.publicUrl === null ? webUrl : `${settings.publicUrl}${settings.basePath}`,
    services,
  };
}
