import type { EventStatus, NormalEvent } from '../../domain/events/event.ts';
import { genericOf } from './generic.ts';
import { makeEvent, said, textOf } from './make-event.ts';
import { multipartField } from './multipart.ts';
import {
  type Fields,
  formFields,
  isBodyless,
  isFields,
  normalisedOne,
  objectOf,
  parseJson,
  type Normaliser,
  type Payload,
} from './payload.ts';

/** By the number in `heartbeat.status`. Pending is not down yet, and maintenance is neither up nor down. */
const STATES: readonly { readonly state: string; readonly status: EventStatus | null }[] = [
  { state: 'down', status: 'firing' },
  { state: 'up', status: 'resolved' },
  { state: 'pending', status: null },
  { state: 'maintenance', status: null },
];
/** Its format of times: UTC without a zone. */
const UTC_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,3})?)$/;
/** The value of the URL field of a monitor without a URL. */
const NO_URL = /^(?:https?:\/\/)?$/;

/**
 * Uptime Kuma's webhook: JSON, a form with one field `data`, a GET with its parts in the query; the output of a custom
 * template is read as generic.
 */
export const uptimeKuma: Normaliser = (payload) => {
  const body = bodyOf(payload);
  if (isFields(body['heartbeat'])) return normalisedOne(beat(body, body['heartbeat']));
  const isOwn = 'heartbeat' in body || 'monitor' in body || Object.keys(body).join() === 'msg';
  return isOwn ? normalisedOne(notice(body)) : genericOf(named(body), 'uptime-kuma');
};

function bodyOf(payload: Payload): Fields {
  if (isBodyless(payload)) return parsed(formFields(payload.query));
  const field = multipartField(payload.contentType, payload.bytes, 'data');
  return objectOf(parseJson(field ?? payload.bytes));
}

/** In a query the parts are JSON texts. */
function parsed(fields: Fields): Fields {
  const part = (key: string): Fields =>
    typeof fields[key] === 'string' ? { [key]: parseJson(Buffer.from(fields[key])) } : {};
  return { ...fields, ...part('heartbeat'), ...part('monitor') };
}

/** Maps the field names of its older templates, and the status words of its templates. */
function named(body: Fields): Fields {
  if (isFields(body['labels'])) return body;
  const { name, NAME, status, STATUS, msg, hostnameOrURL, HOSTNAME_OR_URL } = body;
  const word = textOf(status ?? STATUS)?.replace(/^\P{L}+/u, '');
  const labels = said({ target: target({ url: hostnameOrURL ?? HOSTNAME_OR_URL }) });
  return { ...body, name: name ?? NAME, status: word, message: body['message'] ?? msg, labels };
}

/** A test, or a certificate or a domain that will end: nothing is down. */
function notice({ monitor, msg }: Fields): NormalEvent {
  const of = isFields(monitor) ? monitor : {};
  return makeEvent({
    source: 'uptime-kuma',
    name: of['name'],
    status: null,
    severity: 'info',
    identity: ['notice', of['id'] ?? null, msg],
    labels: labelsOf(of),
    annotations: said({ message: msg }),
  });
}

function beat(body: Fields, heartbeat: Fields): NormalEvent {
  const monitor = isFields(body['monitor']) ? body['monitor'] : {};
  const known = STATES[Number(heartbeat['status'])];
  return makeEvent({
    source: 'uptime-kuma',
    name: monitor['name'],
    status: known?.status ?? null,
    identity: [monitor['id'] ?? heartbeat['monitorID'] ?? monitor['name']],
    labels: { ...labelsOf(monitor), ...said({ monitor_id: monitor['id'] ?? heartbeat['monitorID'] }) },
    annotations: said({
      message: body['msg'],
      detail: heartbeat['msg'],
      state: known?.state,
      path: monitor['pathName'],
      at: textOf(heartbeat['time'])?.replace(UTC_TIME, '$1T$2Z'),
    }),
  });
}

/** Four of its about hundred fields: among the others are passwords, headers and the token of push monitors. */
function labelsOf(monitor: Fields): Fields {
  const tags = Array.isArray(monitor['tags']) ? monitor['tags'].filter(isFields) : [];
  const own = said({ monitor_id: monitor['id'], type: monitor['type'], target: target(monitor) });
  return { ...Object.fromEntries(tags.map(({ name, value }) => [textOf(name) ?? '', textOf(value) ?? ''])), ...own };
}

/** What is watched: a host with its port, else a URL. */
function target({ hostname, port, url }: Fields): string {
  const host = textOf(hostname) ?? '';
  if (host !== '') return textOf(port) === null ? host : `${host}:${textOf(port)}`;
  const text = textOf(url) ?? '';
  return NO_URL.test(text) ? '' : text;
}
