/** What comes over the API and what names other machines: bodies, queries, headers, addresses, URLs. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import * as fc from 'fast-check';
import { allowsAddress, canonicalAddress, classifyAddress, parsePrefix } from '../../../src/lib/ip/address.ts';
import { isSafeSubpath } from '../../../src/domain/sources/subpath.ts';
import { gatherBody, gatherText, inputPlaces, sequenceNumber } from '../../../src/faces/api/input.ts';
import { parseBody } from '../../../src/faces/http/json.ts';
import { checkIdempotencyKey } from '../../../src/operations/core/invoke.ts';
import { parseInput } from '../../../src/operations/core/parse.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { readEndpointUrl } from '../../../src/push/endpoint-url.ts';
import { readTargetUrl } from '../../../src/push/target-url.ts';
import { checkGitRef, checkGitUrl } from '../../../src/runners/checkout/git/url.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { jsonOf, jsonTexts, texts } from './texts.ts';

const FIELDS = [
  'limit',
  'since',
  'state',
  'name',
  'id',
  'command',
  'inventory',
  'egress_ports',
  'timeout',
  'workspace',
  'reason',
  'decision',
  'kind',
  'value',
  'scope',
  'when',
  'action',
  'labels',
  'plan',
  'vars',
  'run_secrets',
  'before',
  'follow',
  '__proto__',
];
const VALUES = [
  'localhost',
  'true',
  '1',
  '-1',
  '9007199254740993',
  'job_01m7yd4zyke00anp2z332d2j5p',
  'approve',
  '5m',
  '${x}',
  '80',
];
const QUERY = [
  ...FIELDS.map((field) => `${field}=`),
  '&',
  '=',
  '%',
  '%00',
  '%ff',
  '+',
  '1',
  'true',
  'job_01m7yd4zyke00anp2z332d2j5p',
];
const ADDRESSES = [
  '127.0.0.1',
  '10.',
  '0x7f',
  '1',
  '255',
  '.',
  ':',
  '::',
  'ffff:',
  '::ffff:127.0.0.1',
  '2001:db8::',
  'fe80::1',
  '%eth0',
  '/8',
  '/64',
  '/129',
  '[',
  ']',
  '64:ff9b::',
  'a',
  '169.254.169.254',
];
const URLS = [
  'https://',
  'ssh://',
  'git@',
  'http://',
  'file://',
  'ext::',
  'ntfy+https://',
  'smtp://',
  'user:pw@',
  'github.com',
  'localhost',
  '127.0.0.1',
  '[::1]',
  '0x7f000001',
  ':443',
  ':99999',
  '/a/b.git',
  '/../',
  '?to=a@b.c',
  '#x',
  '\\',
  '-oProxyCommand=x',
  '--upload-pack=x',
  '%2e%2e',
  'metadata.google.internal',
  '@',
  ':',
];

const placed = OPERATIONS.flatMap((operation) => {
  const { http } = operation;
  return 'none' in http ? [] : [{ operation, places: inputPlaces(operation, http) }];
});

const jsonBody = fuzzTarget('json-body', jsonTexts(FIELDS, VALUES), async (text) => {
  const read = await unlessRefused(() => parseBody(Buffer.from(text)));
  if (read !== undefined) assert.deepEqual(read, JSON.parse(Buffer.from(text).toString()));
});

const input = fuzzTarget(
  'api-input',
  fc.record({ at: fc.nat(), query: texts(QUERY, 16_384), body: jsonOf(FIELDS, VALUES), param: texts(VALUES, 256) }),
  async ({ at, query, body, param }) => {
    const { operation, places } = placed[at % placed.length] ?? assert.fail();
    await unlessRefused(() => {
      const raw = gatherText(places, Object.fromEntries(places.path.map((name) => [name, param])), query);
      if (typeof body === 'object' && body !== null && !Array.isArray(body))
        gatherBody(places, raw, body as Record<string, unknown>);
      return parseInput(operation.input, raw);
    });
    if (typeof body === 'object' && body !== null) await unlessRefused(() => parseInput(operation.input, body));
  },
  { baseMs: 100, perCharacterMs: 0.01 },
);

const headers = fuzzTarget(
  'request-headers',
  texts(['0', '17', '999999999999999', 'key-1', ' ', '~'], 16_384),
  async (text) => {
    const since = await unlessRefused(() => sequenceNumber(text));
    if (since !== undefined) assert.ok(Number.isSafeInteger(since) && since >= 0);
    const refused = (await unlessRefused(() => (checkIdempotencyKey(text), true))) === undefined;
    assert.equal(
      refused,
      text.length === 0 || text.length > 255 || Array.from(text).some((each) => each < ' ' || each > '~'),
    );
  },
);

const address = fuzzTarget(
  'address',
  fc.oneof(texts(ADDRESSES, 4_096), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()),
  (text) => {
    const canonical = canonicalAddress(text);
    assert.equal(classifyAddress(text) === null, canonical === null);
    if (canonical === null) {
      assert.ok(!allowsAddress('push', text));
    } else {
      assert.equal(canonicalAddress(canonical), canonical);
      assert.equal(classifyAddress(canonical), classifyAddress(text));
      assert.equal(parsePrefix(canonical)?.address, canonical);
    }
    const prefix = parsePrefix(text);
    if (prefix !== null) assert.deepEqual(parsePrefix(`${prefix.address}/${prefix.bits}`), prefix);
  },
);

const gitUrl = fuzzTarget('git-url', texts(URLS, 8_192), async (text) => {
  const taken = (await unlessRefused(() => (checkGitUrl(text), true))) === true;
  if (taken) {
    assert.match(text, /^(?:https:\/\/|ssh:\/\/|[A-Za-z0-9_][^/:]*@[^/:]*:|[A-Za-z0-9_][^/@:]*@\[)/);
    assert.doesNotMatch(text, /^-|\s|^[A-Za-z0-9+.-]*::|(?:^|\/)\.\.(?:\/|$)|^(?:file|ext|git|http):/);
  }
  const isRef = (await unlessRefused(() => (checkGitRef(text), true))) === true;
  if (isRef) assert.doesNotMatch(text, /^-|\.\.|[\s~^:?*[\\]|\.lock$/);
});

const urls = fuzzTarget('notify-url', texts(URLS, 8_192), async (text) => {
  const target = await unlessRefused(() => readTargetUrl(text, 1));
  if (target !== undefined) assert.ok(['ntfy', 'mail', 'webhook'].includes(target.kind) && target.url.hostname !== '');
  const endpoint = await unlessRefused(() => readEndpointUrl(text));
  if (endpoint !== undefined) assert.equal(endpoint.protocol, 'https:');
});

const subpath = fuzzTarget(
  'subpath',
  texts(['a', 'net', '/', '..', '.', '\\', '.git', '%2e', '．．', '\u2215', ' ']),
  (text) => {
    if (!isSafeSubpath(text)) return;
    for (const each of [text, text.normalize('NFKC'), text.normalize('NFC')]) {
      assert.equal(posix.normalize(each), each);
      assert.ok(!posix.isAbsolute(each) && !each.split('/').includes('..') && !each.includes('\0'));
    }
  },
);

export const REQUEST_TARGETS: readonly FuzzTarget[] = [jsonBody, input, headers, address, gitUrl, urls, subpath];
