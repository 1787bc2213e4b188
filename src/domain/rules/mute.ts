import type { MuteScope } from './rule.ts';

/** What a mute is about. `value` is null for `global` only. */
export interface MuteTarget {
  readonly kind: MuteScope;
  readonly value: string | null;
}

/** The subject of an announcement. */
export interface Announced {
  /** The name of the event; null without one. */
  readonly eventName: string | null;
  readonly host: string | null;
}

/** Whether the announcement is held. Names of events are compared as they are, hosts without regard to letter case. */
export function mutes({ kind, value }: MuteTarget, { eventName, host }: Announced): boolean {
  switch (kind) {
    case 'global':
      return true;
    case 'alert':
      return value !== null && value === eventName;
    case 'host':
      return value !== null && host !== null && value.toLowerCase() === host.toLowerCase();
  }
}

/** A name or an IPv4 address with a port, or an IPv6 address in brackets with or without one. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+):\d{1,5})$/;

/** The host that an event is about: its label `host`, else `instance` without its port; null without either. */
export function hostOf(labels: Readonly<Record<string, string>>): string | null {
  const host = ownLabel(labels, 'host');
  if (host !== null) return host;
  const instance = ownLabel(labels, 'instance');
  if (instance === null) return null;
  const match = WITH_PORT.exec(instance);
  return match?.[1] ?? match?.[2] ?? instance;
}

function ownLabel(labels: Readonly<Record<string, string>>, name: string): string | null {
  const text = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return text === undefined || text === '' ? null : text;
}
