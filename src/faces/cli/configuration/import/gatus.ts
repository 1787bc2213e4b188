import { parseDuration } from '../../../../domain/duration.ts';
import { Failure } from '../../../../domain/failure.ts';
import { readYaml } from '../../../../domain/yaml/file.ts';
import { jsonOf } from '../../../../domain/yaml/json.ts';
import { CONFIG_LIMITS } from '../../../../domain/configuration/file.ts';
import { checkSize, Collector, type Imported, isGiven, type Json, objectIn, type Subject, textIn } from './imported.ts';

const STATUS = /^\[STATUS\]\s*==\s*([1-5]\d\d)$/;
const BODY = /^\[BODY\]\s*==\s*pat\(\*([^*]+)\*\)$/;
const DAYS = /^\[CERTIFICATE_EXPIRATION\]\s*>=?\s*(\d{1,6})h$/;
/** What a check of the kind means anyway. */
const IMPLIED = /^\[CONNECTED\]\s*==\s*true$|^\[DNS_RCODE\]\s*==\s*NOERROR$|^\[STATUS\]\s*<\s*400$/;
const BELOW_300 = /^\[STATUS\]\s*<\s*300$/;
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** Fields of an endpoint that no check has, besides those of HTTP. */
const LOST = ['graphql', 'ssh', 'maintenance-windows'];

/** A configuration of Gatus: `endpoints` become checks. Throws invalid_argument. */
export async function importGatus(text: string): Promise<Imported> {
  checkSize(text);
  const file = objectIn(jsonOf(await readYaml(text, { ...CONFIG_LIMITS, aliases: true })));
  const endpoints = file['endpoints'] ?? file['services'];
  if (!Array.isArray(endpoints)) throw new Failure('invalid_argument', 'file: it has no endpoints.');
  const found = new Collector();
  for (const { each, place } of found.objects(endpoints, 'endpoint')) importEndpoint(found, each, place);
  for (const section of ['alerting', 'external-endpoints', 'suites', 'maintenance'])
    if (file[section] !== undefined) found.leave(section, 'it has no place in a configuration file');
  return found;
}

function importEndpoint(found: Collector, endpoint: Json, place: number): void {
  const group = textIn(endpoint['group']);
  const title = `${group === null ? '' : `${group}-`}${textIn(endpoint['name']) ?? 'endpoint'}`;
  const subject: Subject = { title, what: `${title} (endpoint ${place})`, losses: [] };
  const url = textIn(endpoint['url']) ?? '';
  const common = { interval: intervalOf(subject, endpoint), enabled: endpoint['enabled'] !== false };
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(url) ?? [];
  const dns = objectIn(endpoint['dns']);
  noteLosses(subject, endpoint);
  if (Object.keys(dns).length > 0) {
    noteDns(subject, url, dns);
    return found.check(subject, 'dns', (textIn(dns['query-name']) ?? '').replace(/\.$/, ''), {
      ...common,
      ...conditions(subject, endpoint, []),
    });
  }
  if (scheme === 'http' || scheme === 'https')
    return found.check(subject, 'http', url, { ...common, ...httpFields(subject, endpoint) });
  if (scheme === 'tls')
    return found.check(subject, 'tls', rest, { ...common, ...conditions(subject, endpoint, ['min_days']) });
  if (scheme === 'tcp') return found.check(subject, 'tcp', rest, { ...common, ...conditions(subject, endpoint, []) });
  if (scheme === 'icmp') return found.check(subject, 'ping', rest, { ...common, ...conditions(subject, endpoint, []) });
  return found.leave(subject.what, `no kind of check is like ${JSON.stringify(url.slice(0, 40))}`);
}

function intervalOf({ losses }: Subject, endpoint: Json): string {
  const interval = textIn(endpoint['interval']) ?? '1m';
  const ms = parseDuration(interval);
  if (ms !== null && ms >= 1_000 && ms <= DAY_HOURS * HOUR_MS) return interval;
  losses.push(`its interval is 1m instead of ${interval.slice(0, 40)}`);
  return '1m';
}

function noteLosses({ losses }: Subject, endpoint: Json): void {
  for (const field of LOST) if (isGiven(endpoint[field])) losses.push(`the field ${field} is left out`);
  for (const [field, value] of Object.entries(objectIn(endpoint['client']))) {
    if (field === 'insecure' && value === true) losses.push('its certificate is verified');
    else if (isGiven(value)) losses.push(`the field client.${field.slice(0, 40)} is left out`);
  }
}

function noteDns({ losses }: Subject, server: string, dns: Json): void {
  if (server !== '') losses.push(`it asks the name servers of the system instead of ${server.slice(0, 100)}`);
  const type = textIn(dns['query-type']) ?? 'A';
  if (type !== 'A') losses.push(`it looks for an address instead of a record of type ${type.slice(0, 20)}`);
}

function httpFields(subject: Subject, endpoint: Json): Json {
  const { losses } = subject;
  const own = conditions(subject, endpoint, ['expect', 'expect_body']);
  const method = textIn(endpoint['method']) ?? 'GET';
  // An answer to HEAD has no body to look at.
  const isHead = method === 'HEAD' && own['expect_body'] === undefined;
  if (method !== 'GET' && !isHead) losses.push(`the method is GET instead of ${method.slice(0, 20)}`);
  if (isGiven(endpoint['headers'])) losses.push('its headers are left out');
  if (isGiven(endpoint['body'])) losses.push('its body is left out');
  return isHead ? { ...own, method } : own;
}

/** The own fields that the conditions say; others are noted. */
function conditions({ losses }: Subject, endpoint: Json, takes: readonly string[]): Json {
  const own: Record<string, unknown> = {};
  let below: string | null = null;
  const list = Array.isArray(endpoint['conditions']) ? endpoint['conditions'] : [];
  for (const each of list) {
    const text = textIn(each) ?? '';
    const [field, value] = fieldOf(text);
    if (field !== null && takes.includes(field) && own[field] === undefined) own[field] = value;
    else if (BELOW_300.test(text) && takes.includes('expect')) below = text;
    else if (!IMPLIED.test(text)) losses.push(`the condition ${text.slice(0, 100)} is left out`);
  }
  if (below !== null && !(Number(own['expect']) < 300))
    losses.push(`every status of 2xx and 3xx is accepted instead of ${below}`);
  return own;
}

function fieldOf(text: string): readonly [field: string | null, value: unknown] {
  const status = STATUS.exec(text)?.[1];
  if (status !== undefined) return ['expect', Number(status)];
  const body = BODY.exec(text)?.[1];
  if (body !== undefined) return ['expect_body', body];
  const hours = DAYS.exec(text)?.[1];
  return hours === undefined ? [null, null] : ['min_days', Math.min(3_650, Math.ceil(Number(hours) / DAY_HOURS))];
}
