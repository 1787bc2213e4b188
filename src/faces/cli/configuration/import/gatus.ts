import { CONFIG_LIMITS } from '../../../../domain/configuration/file.ts';
import type { Entry } from '../../../../domain/configuration/change.ts';
import { readYaml } from '../../../../domain/yaml/file.ts';
import { jsonOf } from '../../../../domain/yaml/json.ts';
import { methodFields, noteAnyStatus, noteVerified, requireAddressLookup } from './check-losses.ts';
import { type Fields, LeftOut } from './reading/fields.ts';
import { Collector, type Imported, type Subject } from './imported.ts';
import { checkSize, fileFields } from './reading/read-export.ts';

const STATUS = /^\[STATUS\]\s*==\s*([1-5]\d\d)$/;
const BODY = /^\[BODY\]\s*==\s*pat\(\*([^*]+)\*\)$/;
const DAYS = /^\[CERTIFICATE_EXPIRATION\]\s*>=?\s*(\d{1,6})h$/;
/** What a check of the kind means anyway. */
const IMPLIED = /^\[CONNECTED\]\s*==\s*true$|^\[DNS_RCODE\]\s*==\s*NOERROR$|^\[STATUS\]\s*<\s*400$/;
/** A target that must not answer: a check is up when it does. */
const MUST_FAIL = /^\[CONNECTED\]\s*(?:==\s*false|!=\s*true)$/;
const BELOW_300 = /^\[STATUS\]\s*<\s*300$/;
const DAY_HOURS = 24;
/** Variables of the environment of Gatus, which it replaces in its whole file, and its way to write a dollar sign. */
const VARIABLE = /\$(?:\$|\{|[A-Za-z_])/;
/** Fields of the client that decide what is reached: a probe without them may reach something else. */
const WAYS = ['proxy-url', 'tunnel', 'dns-resolver'];
const SECTIONS = ['alerting', 'external-endpoints', 'suites', 'maintenance'];

/** A configuration of Gatus: `endpoints` become checks. Throws invalid_argument. */
export async function importGatus(text: string): Promise<Imported> {
  checkSize(text);
  const value = jsonOf(await readYaml(text, { ...CONFIG_LIMITS, aliases: true }));
  const isOld = typeof value === 'object' && value !== null && !('endpoints' in value) && 'services' in value;
  const list = isOld ? 'services' : 'endpoints';
  const file = fileFields(value, list);
  const found = await Collector.create();
  await found.each(file.objects(list, 'endpoint'), (endpoint, place) => importEndpoint(found, endpoint, place));
  for (const section of SECTIONS)
    if (file.has(section)) {
      file.whole(section);
      found.leave(section, 'it has no place in a configuration file');
    }
  return found.finish(file);
}

async function importEndpoint(found: Collector, endpoint: Fields, place: string): Promise<void> {
  const [group, name] = [endpoint.text('group'), endpoint.text('name') ?? 'endpoint'];
  const title = `${group === null ? '' : `${group}-`}${name}`;
  endpoint.label = `${title} (${place})`;
  const subject: Subject = { title, from: [endpoint], losses: [] };
  const url = textOf(endpoint, 'url');
  const common = { interval: endpoint.text('interval') ?? '1m', enabled: endpoint.flag('enabled') ?? true };
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(url) ?? [];
  readClient(subject, endpoint.fields('client'));
  if (endpoint.has('dns')) {
    const dns = endpoint.fields('dns');
    const target = (dns.text('query-name') ?? '').replace(/\.$/, '');
    requireAddressLookup(subject, url === '' ? null : url, dns.text('query-type') ?? 'A');
    return found.check(subject, 'dns', target, { ...common, ...conditions(subject, endpoint, []) });
  }
  if (scheme === 'http' || scheme === 'https')
    return found.check(subject, 'http', url, { ...common, ...httpFields(subject, endpoint) });
  if (scheme === 'tls')
    return found.check(subject, 'tls', rest, { ...common, ...conditions(subject, endpoint, ['min_days']) });
  const kind = scheme === 'tcp' ? 'tcp' : scheme === 'icmp' ? 'ping' : null;
  if (kind === null) throw new LeftOut(`no kind of check is like ${JSON.stringify(url.slice(0, 40))}`);
  return found.check(subject, kind, rest, { ...common, ...conditions(subject, endpoint, []) });
}

/** A text without variables. */
function textOf(endpoint: Fields, field: string): string {
  const text = endpoint.text(field) ?? '';
  requireNoVariable(text);
  return text;
}

function requireNoVariable(text: string): void {
  if (VARIABLE.test(text)) throw new LeftOut('it has a variable of the environment; write its value into the file');
}

function readClient(subject: Subject, client: Fields): void {
  for (const field of WAYS)
    if (client.has(field)) throw new LeftOut(`a check has no ${field}, and may reach something else without it`);
  noteVerified(subject, client.flag('insecure'));
}

function httpFields(subject: Subject, endpoint: Fields): Entry {
  const own = conditions(subject, endpoint, ['expect', 'expect_body']);
  const expectsBody = own['expect_body'] !== undefined;
  return { ...own, ...methodFields(subject, endpoint.text('method') ?? 'GET', expectsBody) };
}

/** The own fields that the conditions say; others are noted. */
function conditions(subject: Subject, endpoint: Fields, takes: readonly string[]): Entry {
  const own: Record<string, unknown> = {};
  let below: string | null = null;
  const lost: string[] = [];
  const all = endpoint.texts('conditions');
  for (const text of all) {
    requireNoVariable(text);
    if (MUST_FAIL.test(text)) throw new LeftOut(`its condition ${text}; a check is up when its target answers`);
    const [field, value] = fieldOf(text);
    if (field !== null && takes.includes(field) && own[field] === undefined) own[field] = value;
    else if (BELOW_300.test(text) && takes.includes('expect')) below = text;
    else if (!IMPLIED.test(text)) lost.push(text.slice(0, 100));
  }
  if (lost.length > 0 && lost.length === all.length)
    throw new LeftOut(`no check has its conditions: ${lost.join(', ').slice(0, 200)}`);
  for (const text of lost) subject.losses.push(`the condition ${text} is left out`);
  if (below !== null && !(Number(own['expect']) < 300)) noteAnyStatus(subject, below);
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
