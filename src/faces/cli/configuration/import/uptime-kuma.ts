import type { Entry } from '../../../../domain/configuration/change.ts';
import { methodFields, noteAnyStatus, noteVerified, requireAddressLookup } from './check-losses.ts';
import { type Fields, LeftOut } from './reading/fields.ts';
import { Collector, type Imported, type Subject } from './imported.ts';
import { readExport } from './reading/read-export.ts';

/** A check changes after three probes in a row: what Uptime Kuma does with two retries. */
const RETRIES = 2;

/** An export of Uptime Kuma 1 (Settings, Backup): `monitorList` becomes checks. Throws invalid_argument. */
export async function importUptimeKuma(text: string): Promise<Imported> {
  const file = readExport(text, 'monitorList');
  const found = await Collector.create();
  await found.each(file.objects('monitorList', 'monitor'), (monitor, place) => importMonitor(found, monitor, place));
  const senders = file.has('notificationList') ? file.objects('notificationList', 'notification') : [];
  for (const { fields } of senders) fields?.drop();
  if (senders.length > 0) found.note(`Left out: ${senders.length} notifications; see svc serve --notify.`);
  return found.finish(file);
}

async function importMonitor(found: Collector, monitor: Fields, place: string): Promise<void> {
  const title = monitor.text('name') ?? 'monitor';
  monitor.label = `${title} (${place})`;
  const subject: Subject = { title, from: [monitor], losses: [] };
  const type = monitor.text('type') ?? '';
  // A monitor in a group that is paused is not probed either.
  const enabled = (monitor.flag('active') ?? true) && monitor.flag('forceInactive') !== true;
  const common = { interval: `${monitor.number('interval') ?? 60}s`, enabled };
  const retries = monitor.number('maxretries') ?? 0;
  if (retries !== RETRIES && retries > 0)
    subject.losses.push(`it is down after ${RETRIES + 1} probes in a row instead of ${retries} retries`);
  if (monitor.flag('upsideDown') === true) throw new LeftOut('a check cannot be upside down');
  if (monitor.flag('invertKeyword') === true && type === 'keyword')
    throw new LeftOut('a check cannot expect that a text is missing');
  if (monitor.has('proxyId')) throw new LeftOut('a check has no proxy, and may reach something else without it');
  if (type === 'http' || type === 'keyword')
    return found.check(subject, 'http', monitor.text('url') ?? '', { ...common, ...httpFields(subject, monitor) });
  const host = monitor.text('hostname') ?? '';
  if (type === 'port') return found.check(subject, 'tcp', `${host}:${monitor.text('port') ?? ''}`, common);
  if (type === 'ping') return found.check(subject, 'ping', host, common);
  if (type !== 'dns') throw new LeftOut(`no kind of check is like the type ${JSON.stringify(type.slice(0, 40))}`);
  requireAddressLookup(subject, monitor.text('dns_resolve_server'), monitor.text('dns_resolve_type') ?? 'A');
  return found.check(subject, 'dns', host, common);
}

function httpFields(subject: Subject, monitor: Fields): Entry {
  const keyword = monitor.text('type') === 'keyword' && monitor.has('keyword') ? monitor.whole('keyword') : null;
  const method = methodFields(subject, monitor.text('method') ?? 'GET', keyword !== null);
  noteVerified(subject, monitor.flag('ignoreTls'));
  if (monitor.flag('expiryNotification') === true)
    subject.losses.push('the end of its certificate is not watched; add a check of kind tls');
  const codes = monitor.texts('accepted_statuscodes');
  const [code] = codes;
  const one = codes.length === 1 && /^[1-5]\d\d$/.test(code ?? '') ? Number(code) : null;
  if (codes.length > 0 && !codes.some((each) => /^[23]/.test(each)) && one === null)
    throw new LeftOut(`it accepts ${codes.join(', ').slice(0, 100)}, and a check one status, or all of 2xx and 3xx`);
  // Noted for its default too: it follows a redirect to an error, which a check accepts.
  if (one === null && codes.length > 0) noteAnyStatus(subject, codes.join(', '));
  return { ...(one === null ? {} : { expect: one }), ...method, ...(keyword === null ? {} : { expect_body: keyword }) };
}
