import { parseDuration } from '../../duration.ts';
import { Failure } from '../../failure.ts';
import { readYaml } from '../../yaml/file.ts';
import { jsonOf } from '../../yaml/json.ts';
import { CONFIG_LIMITS } from '../file.ts';
import { Collector, type Imported, type Json, objectIn, objectsIn, textIn } from './imported.ts';

const STATUS = /^\[STATUS\]\s*==\s*([1-5]\d\d)$/;
const BODY = /^\[BODY\]\s*==\s*pat\(\*([^*]+)\*\)$/;
const DAYS = /^\[CERTIFICATE_EXPIRATION\]\s*>=?\s*(\d{1,6})h$/;
/** What a check of the kind means anyway. */
const IMPLIED = /^\[CONNECTED\]\s*==\s*true$|^\[DNS_RCODE\]\s*==\s*NOERROR$|^\[STATUS\]\s*<\s*[34]00$/;
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

/** A configuration of Gatus: `endpoints` become checks. Throws invalid_argument. */
export async function importGatus(text: string): Promise<Imported> {
  const file = objectIn(jsonOf(await readYaml(text, CONFIG_LIMITS)));
  const endpoints = file['endpoints'] ?? file['services'];
  if (!Array.isArray(endpoints)) throw new Failure('invalid_argument', 'file: it has no endpoints.');
  const found = new Collector();
  for (const endpoint of objectsIn(endpoints)) importEndpoint(found, endpoint);
  for (const section of ['alerting', 'external-endpoints', 'suites', 'maintenance'])
    if (file[section] !== undefined) found.leave(section, 'it has no place in a configuration file');
  return found;
}

function importEndpoint(found: Collector, endpoint: Json): void {
  const group = textIn(endpoint['group']);
  const title = `${group === null ? '' : `${group}-`}${textIn(endpoint['name']) ?? 'endpoint'}`;
  const url = textIn(endpoint['url']) ?? '';
  const interval = textIn(endpoint['interval']) ?? '1m';
  const ms = parseDuration(interval);
  const common = {
    interval: ms === null || ms < 1_000 || ms > DAY_HOURS * HOUR_MS ? '1m' : interval,
    enabled: endpoint['enabled'] !== false,
  };
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(url) ?? [];
  const dns = objectIn(endpoint['dns']);
  if (Object.keys(dns).length > 0)
    return found.check(title, 'dns', (textIn(dns['query-name']) ?? '').replace(/\.$/, ''), {
      ...common,
      ...conditions(found, title, endpoint, []),
    });
  if (scheme === 'http' || scheme === 'https')
    return found.check(title, 'http', url, {
      ...common,
      ...conditions(found, title, endpoint, ['expect', 'expect_body']),
    });
  if (scheme === 'tls')
    return found.check(title, 'tls', rest, { ...common, ...conditions(found, title, endpoint, ['min_days']) });
  if (scheme === 'tcp')
    return found.check(title, 'tcp', rest, { ...common, ...conditions(found, title, endpoint, []) });
  if (scheme === 'icmp')
    return found.check(title, 'ping', rest, { ...common, ...conditions(found, title, endpoint, []) });
  return found.leave(title, `no kind of check is like ${JSON.stringify(url.slice(0, 40))}`);
}

/** The own fields that the conditions say; others are noted. */
function conditions(found: Collector, title: string, endpoint: Json, takes: readonly string[]): Json {
  const own: Record<string, unknown> = {};
  const list = Array.isArray(endpoint['conditions']) ? endpoint['conditions'] : [];
  for (const each of list) {
    const text = textIn(each) ?? '';
    const [field, value] = fieldOf(text);
    if (field !== null && takes.includes(field)) own[field] = value;
    else if (!IMPLIED.test(text)) found.note(`${title}: the condition ${text.slice(0, 100)} is left out.`);
  }
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
