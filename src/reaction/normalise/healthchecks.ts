import { makeEvent, said, textOf } from './make-event.ts';
import { flatFields, normalisedOne, type Normaliser, Unreadable } from './payload.ts';
import { statusOf } from './status.ts';

/**
 * healthchecks.io's webhook: the body of the snippet in docs/how-to/receive-alerts.md, or `$JSON`, or its variables in
 * a query or a form. The URLs to ping, change and pause a check, its code and its UUID act as credentials: they are
 * never kept, and the fingerprint holds only a hash of the code.
 */
export const healthchecks: Normaliser = (payload) => {
  const {
    name,
    slug,
    status,
    tags,
    desc,
    at,
    exit,
    last_ping: lastPing,
    code,
    uuid,
    unique_key: uniqueKey,
    severity,
  } = flatFields(payload);
  const called = [name, slug].find((each) => typeof each === 'string' && each !== '');
  if (called === undefined) throw new Unreadable('name: expected a non-empty text.');
  const known = statusOf(status);
  return normalisedOne(
    makeEvent({
      source: 'healthchecks',
      name: called,
      status: known,
      severity,
      identity: [textOf(uuid) ?? textOf(code) ?? textOf(uniqueKey) ?? textOf(slug) ?? called],
      labels: said({ slug, tags }),
      annotations: said({ description: desc, at, exit, last_ping: lastPing, ...(known === null ? { status } : {}) }),
    }),
  );
};
