import { Failure } from '../../../../domain/failure.ts';
import {
  Collector,
  type Imported,
  isGiven,
  type Json,
  objectsIn,
  readExport,
  type Subject,
  textIn,
} from './imported.ts';

/** A check changes after three probes in a row: what Uptime Kuma does with two retries. */
const RETRIES = 2;
/** Fields of a request that no check has. */
const REQUEST = [
  ['headers', 'its headers are left out'],
  ['body', 'its body is left out'],
  ['authMethod', 'its authMethod is left out'],
] as const;

/** An export of Uptime Kuma 1 (Settings, Backup): `monitorList` becomes checks. Throws invalid_argument. */
export function importUptimeKuma(text: string): Imported {
  const file = readExport(text);
  if (!Array.isArray(file['monitorList'])) throw new Failure('invalid_argument', 'file: it has no monitorList.');
  const found = new Collector();
  for (const { each, place } of found.objects(file['monitorList'], 'monitor')) importMonitor(found, each, place);
  const senders = objectsIn(file['notificationList']).length;
  if (senders > 0) found.note(`Left out: ${senders} notifications; see svc serve --notify.`);
  return found;
}

function importMonitor(found: Collector, monitor: Json, place: number): void {
  const title = textIn(monitor['name']) ?? 'monitor';
  const subject: Subject = { title, what: `${title} (monitor ${place})`, losses: [] };
  const type = textIn(monitor['type']) ?? '';
  const host = textIn(monitor['hostname']) ?? '';
  const common = {
    interval: intervalOf(subject, monitor),
    enabled: monitor['active'] !== false && monitor['active'] !== 0,
  };
  const retries = Number(monitor['maxretries'] ?? 0);
  if (retries > 0 && retries !== RETRIES)
    subject.losses.push(`it is down after ${RETRIES + 1} probes in a row instead of ${retries} retries`);
  if (isOn(monitor['upsideDown'])) return found.leave(subject.what, 'a check cannot be upside down');
  if (type === 'keyword' && isOn(monitor['invertKeyword']))
    return found.leave(subject.what, 'a check cannot expect that a text is missing');
  if (type === 'http' || type === 'keyword') {
    const url = textIn(monitor['url']) ?? '';
    return found.check(subject, 'http', url, { ...common, ...httpFields(subject, monitor) });
  }
  if (type === 'port') return found.check(subject, 'tcp', `${host}:${textIn(monitor['port']) ?? ''}`, common);
  if (type === 'ping') return found.check(subject, 'ping', host, common);
  if (type === 'dns') {
    noteDns(subject, monitor);
    return found.check(subject, 'dns', host, common);
  }
  return found.leave(subject.what, `no kind of check is like the type ${JSON.stringify(type.slice(0, 40))}`);
}

/** Its store has 0 and 1 for false and true. */
function isOn(value: unknown): boolean {
  return value === true || value === 1;
}

function intervalOf({ losses }: Subject, monitor: Json): string {
  const seconds = Number(monitor['interval'] ?? 60);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400) return `${seconds}s`;
  losses.push(`its interval is 1m instead of ${(textIn(monitor['interval']) ?? 'its own').slice(0, 40)}`);
  return '1m';
}

function noteDns({ losses }: Subject, monitor: Json): void {
  const server = textIn(monitor['dns_resolve_server']);
  if (server !== null) losses.push(`it asks the name servers of the system instead of ${server.slice(0, 100)}`);
  const type = textIn(monitor['dns_resolve_type']) ?? 'A';
  if (type !== 'A') losses.push(`it looks for an address instead of a record of type ${type.slice(0, 20)}`);
}

function httpFields({ losses }: Subject, monitor: Json): Record<string, unknown> {
  const keyword = monitor['type'] === 'keyword' ? textIn(monitor['keyword']) : null;
  const method = textIn(monitor['method']) ?? 'GET';
  // An answer to HEAD has no body to look at.
  const isHead = method === 'HEAD' && keyword === null;
  if (method !== 'GET' && !isHead) losses.push(`the method is GET instead of ${method.slice(0, 20)}`);
  for (const [field, loss] of REQUEST) if (isGiven(monitor[field])) losses.push(loss);
  if (isOn(monitor['ignoreTls'])) losses.push('its certificate is verified');
  if (isOn(monitor['expiryNotification']))
    losses.push('the end of its certificate is not watched; add a check of kind tls');
  const codes = Array.isArray(monitor['accepted_statuscodes']) ? monitor['accepted_statuscodes'].map(textIn) : [];
  const [code] = codes;
  const one = codes.length === 1 && /^[1-5]\d\d$/.test(code ?? '') ? Number(code) : null;
  // Noted for its default too: it follows a redirect to an error, which a check accepts.
  if (one === null && codes.length > 0)
    losses.push(`every status of 2xx and 3xx is accepted instead of ${codes.join(', ').slice(0, 100)}`);
  return {
    ...(one === null ? {} : { expect: one }),
    ...(isHead ? { method } : {}),
    ...(keyword === null ? {} : { expect_body: keyword }),
  };
}
