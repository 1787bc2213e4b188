import type { NotifierOptions } from '../daemon/notify/send.ts';
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
  readonly services: NotifierOptions['services'];
}

/** Where people find the console, with its base path; `webUrl` is the listener's own URL. */
export function consoleUrlOf({ publicUrl, basePath }: Base['settings'], webUrl: string): string {
  return publicUrl === null ? webUrl : `${publicUrl}${basePath}`;
}

export function notifierOptions({ base, targets, webUrl, services }: NotifierParts): NotifierOptions {
  const { clock, settings } = base;
  const baseUrl = consoleUrlOf(settings, webUrl);
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
