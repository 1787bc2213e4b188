import { createHash } from 'node:crypto';
import { EVENT_STATUSES, type EventStatus, type NormalEvent } from '../domain/events/event.ts';
import { isCredentialName } from '../domain/secrets/credential-name.ts';
import { withoutCredentials } from './normalise/credentials.ts';

/** What a host asks for. */
interface HostRequest {
  readonly request: string;
  readonly reason: string | null;
  readonly status: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The event of a request. `host` comes from the token. The metadata is not part of its identity: else a host that sends
 * a measurement with each request would evade cooldown and duplicate checks.
 */
export function hostEvent(host: string, { request, reason, status, metadata }: HostRequest): NormalEvent {
  // As in other alerts, no credential is kept, even if sent by mistake.
  const name = withoutCredentials(request);
  const labels: Record<string, string> = { host, request: name };
  if (status !== null) labels['status'] = withoutCredentials(status);
  for (const [key, value] of Object.entries(metadata))
    if (!isCredentialName(key)) labels[`metadata.${key}`] = withoutCredentials(value);
  return {
    source: 'host',
    name,
    status: eventStatus(status),
    severity: null,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([host, request]))
      .digest('hex')
      .slice(0, 32),
    labels,
    annotations: reason === null ? {} : { reason: withoutCredentials(reason) },
  };
}

/** A host may send any word as its status; these two are also the event's. */
function eventStatus(status: string | null): EventStatus | null {
  return EVENT_STATUSES.find((known) => known === status) ?? null;
}
