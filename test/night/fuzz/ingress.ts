/** What strangers send to the ingress. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  EVENT_LIMITS,
  type NormalEvent,
  WEBHOOK_SOURCES,
  type WebhookSource,
} from '../../../src/domain/events/event.ts';
import { oneLine } from '../../../src/domain/one-line.ts';
import { composeNotification } from '../../../src/domain/notifications.ts';
import { PUSH_DETAILS } from '../../../src/domain/notify/row.ts';
import { linkFormOf, linkVisitOf } from '../../../src/faces/ingress/decision-routes.ts';
import { withoutCredentials } from '../../../src/reaction/normalise/credentials.ts';
import { checkJsonShape } from '../../../src/reaction/normalise/json/json-shape.ts';
import { repairJson } from '../../../src/reaction/normalise/json/repair-json.ts';
import { multipartField } from '../../../src/reaction/normalise/multipart.ts';
import { normalise } from '../../../src/reaction/normalise/normalise.ts';
import { Unreadable } from '../../../src/reaction/normalise/payload.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { jsonOf, jsonTexts, pieces, texts } from './texts.ts';

const KEYS = [
  'alerts',
  'labels',
  'annotations',
  'name',
  'title',
  'alertname',
  'status',
  'severity',
  'fingerprint',
  'truncatedAlerts',
  'heartbeat',
  'monitor',
  'msg',
  'tags',
  'value',
  'id',
  'url',
  'hostname',
  'port',
  'type',
  'time',
  'ruleId',
  'state',
  'startsAt',
  'endsAt',
  'generatorURL',
  'group',
  'errors',
  'conditions',
  'description',
  'slug',
  'code',
  'uuid',
  'password',
  '__proto__',
  'constructor',
];
const WORDS = [
  'firing',
  'resolved',
  'TRIGGERED',
  'down',
  'DiskFull',
  'web1:9100',
  'https://u:p@h/',
  '?token=x',
  'password=x',
  'Bearer abc1',
  'authorization: ',
  '"name":"',
  '"status": "',
  '-u a:b',
  '--secret x',
  '0001-01-01T00:00:00Z',
  '2026-11-21 14:04:20.123',
  'critical',
];
const FORMS = ['name=', 'status=', '&', 'heartbeat=', 'monitor=', 'data=', '%7B', '%22', '+', 'msg=', '%'];
const CONTENT_TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/form-data; boundary="x"',
  '',
  'text/plain',
];
/** A password that no output may have. */
const CANARY = 'CANARYcanary7';

function checkEvent({ name, severity, fingerprint, labels, annotations, ...event }: NormalEvent): void {
  const { nameCharacters, keyCharacters, valueCharacters, labels: many } = EVENT_LIMITS;
  assert.ok(
    name.length <= nameCharacters && (severity ?? '').length <= nameCharacters && fingerprint.length <= nameCharacters,
  );
  for (const record of [labels, annotations]) {
    assert.ok(Object.keys(record).length <= many);
    for (const [key, value] of Object.entries(record))
      assert.ok(key.length <= keyCharacters && value.length <= valueCharacters, `${key.length} ${value.length}`);
  }
  for (const text of [
    name,
    severity ?? '',
    fingerprint,
    ...[labels, annotations].flatMap((record) => Object.entries(record).flat()),
  ]) {
    assert.ok(text.isWellFormed() && !text.includes('\0'), 'half a character or a NUL');
  }
  assert.ok(
    !JSON.stringify({ name, severity, fingerprint, labels, annotations, ...event }).includes(CANARY),
    'a password',
  );
}

function normaliser(source: WebhookSource): FuzzTarget {
  const json = jsonTexts(KEYS, WORDS);
  const alerts = fc
    .array(jsonOf(KEYS, WORDS), { maxLength: 5 })
    .map((list) => JSON.stringify({ alerts: list, truncatedAlerts: list.length }));
  const hidden = texts(WORDS, 5_000).map((text) =>
    JSON.stringify({ name: 'x', labels: { a: `${text} https://user:${CANARY}@host/` } }),
  );
  const body = fc.oneof(
    { weight: 5, arbitrary: json },
    { weight: 3, arbitrary: alerts },
    { weight: 1, arbitrary: hidden },
    { weight: 2, arbitrary: texts([...FORMS, ...WORDS]) },
  );
  const message = fc.record({ body, contentType: fc.constantFrom(...CONTENT_TYPES), query: pieces(FORMS) });
  return fuzzTarget(`normalise-${source}`, message, async (sent) => {
    const read = await unlessRefused(
      () => normalise(source, { contentType: sent.contentType, query: sent.query, bytes: Buffer.from(sent.body) }),
      Unreadable,
    );
    if (read === undefined) return;
    for (const event of read.events) checkEvent(event);
    assert.deepEqual(JSON.parse(JSON.stringify(read.events)), read.events);
  });
}

const credentials = fuzzTarget('credentials', texts(WORDS), (text) => {
  const once = withoutCredentials(text);
  assert.ok(once.length <= 3 * text.length + 20, 'it grew');
  const beside = withoutCredentials(`${text.replaceAll(/["']/g, '')} https://user:${CANARY}@host/`);
  assert.ok(!beside.includes(CANARY), beside.slice(-200));
});

const multipart = fuzzTarget(
  'multipart',
  fc.record({
    boundary: fc.string({ minLength: 1, maxLength: 20 }),
    body: texts([
      '--x',
      '\r\n--x',
      '\r\n',
      '\r\n\r\n',
      'Content-Disposition: form-data; name="data"',
      '--x--',
      '{"a":1}',
    ]),
    content: texts(['{"a":1}', '\r\n', '-']),
  }),
  ({ boundary, body, content }) => {
    for (const contentType of ['multipart/form-data; boundary=x', `multipart/form-data; boundary="${boundary}"`, body])
      multipartField(contentType, Buffer.from(body), 'data');
    const form =
      '--x7f3\r\nContent-Disposition: form-data; name="other"\r\n\r\n1\r\n--x7f3\r\nContent-Disposition: ' +
      `form-data; name="data"\r\n\r\n${content}\r\n--x7f3--\r\n`;
    const found = multipartField('multipart/form-data; boundary=x7f3', Buffer.from(form), 'data');
    if (!content.includes('--x7f3')) assert.equal(found?.toString(), Buffer.from(content).toString());
  },
);

const jsonShape = fuzzTarget('json-shape', fc.tuple(jsonTexts(KEYS, WORDS), fc.nat(150)), ([text, depth]) => {
  checkJsonShape(Buffer.from(text));
  const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  assert.equal(checkJsonShape(Buffer.from(`{"a":"[[[{\\"","b":${nested || '1'}}`)) === null, depth < 100);
});

const repair = fuzzTarget(
  'repair-json',
  fc.oneof(
    jsonTexts(KEYS, WORDS),
    texts([...WORDS, '{', '}', '[', ']', '"', "'", ',', ':', '\\', '\n', 'NaN', '{"a":"']),
  ),
  (text) => {
    const found = repairJson(text);
    if ('stopsAt' in found) assert.ok(found.stopsAt >= 0 && found.stopsAt <= text.length);
    else JSON.parse(found.json);
  },
);

const lines = fuzzTarget(
  'one-line',
  texts([...WORDS, '\r', '\u0085', '\u2029', '\u200b', '\u{e0041}', '👩‍💻', '\u001b[2J']),
  (text) => {
    const line = oneLine(text);
    assert.equal(oneLine(line), line);
    assert.ok(line.isWellFormed() && line.length <= text.length);
    assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
    for (const detail of PUSH_DETAILS) {
      const page = composeNotification(
        { kind: 'rule', rule: text, eventId: text, event: text, message: text },
        { id: 'page_1', detail, now: 0, baseUrl: '', node: 'vm', links: null },
      );
      assert.doesNotMatch(`${page.title}${page.message}`, /[\r\n\u2028\u2029]/u);
    }
  },
);

const links = fuzzTarget(
  'decision-link',
  texts(
    ['/approval/', 'apr_01m7yd4zyke00anp2z332d2j5p', '/approve', '/reject', '?token=', '&token=', 'abc', '%2f'],
    16_384,
  ),
  (text) => {
    for (const url of [text, `/approval/${text}`, `/approval/a/approve?${text}`]) {
      const visit = linkVisitOf({ url });
      if (visit === null) continue;
      assert.deepEqual(Object.keys(visit).toSorted(), ['approvalId', 'decision', 'token']);
      assert.ok(!visit.approvalId.includes('/') && !visit.decision.includes('?'));
    }
  },
);

const forms = fuzzTarget(
  'decision-form',
  texts(['reason=', '&', '=', '+', '%0d%0a', '%e2%80%ae', 'reason', 'x'], 9_216),
  async (text) => {
    const fields = await unlessRefused(() => linkFormOf(text));
    if (fields !== undefined) assert.deepEqual(new Map(Object.entries(fields)), new Map(new URLSearchParams(text)));
  },
);

export const INGRESS_TARGETS: readonly FuzzTarget[] = [
  ...WEBHOOK_SOURCES.map(normaliser),
  credentials,
  multipart,
  jsonShape,
  repair,
  lines,
  links,
  forms,
];
