import { Failure } from '../../failure.ts';
import { Collector, type Imported, type Json, objectsIn, readExport, textIn } from './imported.ts';

/** An export of Uptime Kuma 1 (Settings, Backup): `monitorList` becomes checks. Throws invalid_argument. */
export function importUptimeKuma(text: string): Imported {
  const file = readExport(text);
  if (!Array.isArray(file['monitorList'])) throw new Failure('invalid_argument', 'file: it has no monitorList.');
  const found = new Collector();
  for (const monitor of objectsIn(file['monitorList'])) importMonitor(found, monitor);
  const senders = objectsIn(file['notificationList']).length;
  if (senders > 0) found.note(`Left out: ${senders} notifications; see svc serve --notify.`);
  return found;
}

function importMonitor(found: Collector, monitor: Json): void {
  const title = textIn(monitor['name']) ?? 'monitor';
  const type = textIn(monitor['type']) ?? '';
  const host = textIn(monitor['hostname']) ?? '';
  const seconds = Number(monitor['interval'] ?? 60);
  const isTime = Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400;
  const common = {
    interval: isTime ? `${seconds}s` : '1m',
    enabled: monitor['active'] !== false && monitor['active'] !== 0,
  };
  if (monitor['upsideDown'] === true) return found.leave(title, 'a check cannot be upside down');
  if (type === 'keyword' && monitor['invertKeyword'] === true)
    return found.leave(title, 'a check cannot expect that a text is missing');
  if (type === 'http' || type === 'keyword')
    return found.check(title, 'http', textIn(monitor['url']) ?? '', {
      ...common,
      ...httpFields(found, title, monitor),
    });
  if (type === 'port') return found.check(title, 'tcp', `${host}:${textIn(monitor['port']) ?? ''}`, common);
  if (type === 'ping') return found.check(title, 'ping', host, common);
  if (type === 'dns') return found.check(title, 'dns', host, common);
  return found.leave(title, `no kind of check is like the type ${JSON.stringify(type.slice(0, 40))}`);
}

function httpFields(found: Collector, title: string, monitor: Json): Record<string, unknown> {
  const method = textIn(monitor['method']) ?? 'GET';
  if (method !== 'GET' && method !== 'HEAD')
    found.note(`${title}: the method is GET instead of ${method.slice(0, 20)}.`);
  for (const field of ['headers', 'body', 'authMethod'])
    if (textIn(monitor[field]) !== null) found.note(`${title}: its ${field} is left out.`);
  if (monitor['ignoreTls'] === true) found.note(`${title}: its certificate is verified.`);
  const codes = Array.isArray(monitor['accepted_statuscodes']) ? monitor['accepted_statuscodes'].map(textIn) : [];
  const [code] = codes;
  const one = codes.length === 1 && /^[1-5]\d\d$/.test(code ?? '') ? Number(code) : null;
  if (one === null && codes.length > 0 && codes.join() !== '200-299')
    found.note(`${title}: every status of 2xx and 3xx is accepted instead of ${codes.join(', ').slice(0, 100)}.`);
  const keyword = monitor['type'] === 'keyword' ? textIn(monitor['keyword']) : null;
  return {
    ...(one === null ? {} : { expect: one }),
    ...(method === 'HEAD' && keyword === null ? { method } : {}),
    ...(keyword === null ? {} : { expect_body: keyword }),
  };
}
