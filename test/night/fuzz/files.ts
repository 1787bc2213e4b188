/** What tools of others write: plans, states, and what helpers of the service say. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { parsePlan } from '../../../src/domain/workspaces/plan-json.ts';
import { viewOf } from '../../../src/domain/workspaces/plan-view.ts';
import { ChunkCorrupt, decodeChunk, encodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { CHUNK_STREAMS } from '../../../src/lib/chunks/chunk-event.ts';
import { CallList, LIST_BYTES, TextRefused } from '../../../src/runners/launch/records.ts';
import { readPlanFile } from '../../../src/runners/terraform/plan-file.ts';
import { parseState } from '../../../src/domain/workspaces/state.ts';
import { planFile as planFileOf, resource as planned } from '../../support/attacks/plan-bytes.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { anyText, jsonOf, jsonTexts, texts } from './texts.ts';

const PLAN_KEYS = [
  'format_version',
  'resource_changes',
  'address',
  'previous_address',
  'type',
  'name',
  'mode',
  'change',
  'actions',
  'before',
  'after',
  'after_unknown',
  'before_sensitive',
  'after_sensitive',
  'replace_paths',
  'importing',
  'output_changes',
  'deferred_changes',
  'variables',
  'value',
  'configuration',
  'root_module',
  'index',
  'deposed',
  'planned_values',
  'complete',
  'errored',
  'action_reason',
  '__proto__',
];
const PLAN_WORDS = [
  '1.2',
  'create',
  'delete',
  'update',
  'no-op',
  'read',
  'forget',
  'managed',
  'data',
  'aws_db.main',
  'module.a["b"]',
  'null_resource',
  '12345678901234567890',
];
const STATE_KEYS = [
  'version',
  'serial',
  'lineage',
  'resources',
  'instances',
  'outputs',
  'terraform_version',
  '__proto__',
];
const STATE_WORDS = ['4', 'abc-def', 'managed'];
/** A value of a secret, which no view of a plan may show. */
const SECRET = 'hunter2-canary-secret';
/**
 * Characters of a value in a plan: each that is marked as sensitive is looked for in all its forms, and long ones are
 * slow to prepare.
 */
const SENSITIVE_MAX = 256;

const resource = fc.record(
  {
    address: fc.constantFrom('a.b', 'module.x.a.b["c"]', `a.b["${SECRET}"]`, ''),
    type: fc.constantFrom('a', 'aws_db'),
    name: fc.constant('b'),
    mode: fc.constantFrom('managed', 'data'),
    change: fc.record(
      {
        actions: fc.subarray(['create', 'delete', 'update', 'no-op', 'forget', 'x']),
        before: jsonOf(['a', 'password'], ['x', SECRET], SENSITIVE_MAX),
        after: jsonOf(['a', 'password'], ['y', SECRET], SENSITIVE_MAX),
        after_unknown: jsonOf(['a'], ['true']),
        after_sensitive: jsonOf(['a', 'password'], ['true']),
      },
      { requiredKeys: ['actions'] },
    ),
  },
  { requiredKeys: ['address', 'change'] },
);
const plans = fc.oneof(
  { weight: 3, arbitrary: jsonTexts(PLAN_KEYS, PLAN_WORDS, SENSITIVE_MAX) },
  {
    weight: 3,
    arbitrary: fc
      .array(resource, { maxLength: 6 })
      .map((changes) => JSON.stringify({ format_version: '1.2', resource_changes: changes, complete: true })),
  },
);

/** The text that every refusal of a plan begins with; what it quotes is nothing of the plan. */
const REFUSED = /^The plan could not be read: /;

/** To look for a secret in all its forms is prepared for each plan, and takes 20 ms: one plan in five has one. */
const plan = fuzzTarget(
  'plan-json',
  fc.tuple(plans, fc.nat(4)),
  ([text, dice]) => {
    try {
      const read = viewOf(parsePlan(text), { artifactId: 'art_1', secrets: dice === 0 ? [Buffer.from(SECRET)] : [] });
      JSON.parse(read.view);
      assert.ok(dice !== 0 || !read.view.includes(SECRET), 'a secret');
      assert.match(read.summary, /^[^\r\n]{1,400}$/);
    } catch (error) {
      if (!(error instanceof Error) || !REFUSED.test(error.message)) throw error;
      assert.ok(!error.message.includes(SECRET) && error.message.length < 400, error.message);
    }
  },
  { baseMs: 100, perCharacterMs: 0.01 },
);

/** Bytes of a plan file: whole, with some exchanged, cut, or none of it. */
const planBytes = fc
  .tuple(
    fc.array(fc.record({ address: anyText(40), action: fc.nat(9), previous: anyText(10), deposed: anyText(4) }), {
      maxLength: 6,
    }),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
    fc.option(fc.nat(), { nil: null }),
  )
  .map(([all, damage, cut]) => {
    const bytes = Buffer.from(planFileOf(...all.map((each) => planned(each))));
    for (const [at, byte] of damage) bytes[at % bytes.length] = byte;
    return cut === null ? bytes : bytes.subarray(0, cut % bytes.length);
  });

const planFile = fuzzTarget(
  'plan-file',
  fc.oneof(
    { weight: 9, arbitrary: planBytes },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2_048 }).map((noise) => Buffer.from(noise)) },
  ),
  async (bytes) => {
    try {
      for (const key of (await readPlanFile({ bytes, tool: 'terraform' })).changes)
        assert.ok(Array.isArray(JSON.parse(key)));
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('The plan file could not be read: ')) throw error;
    }
  },
);

const state = fuzzTarget(
  'state-file',
  fc.oneof(
    jsonTexts(STATE_KEYS, STATE_WORDS),
    fc
      .record({
        version: fc.constant(4),
        serial: fc.oneof(fc.nat(), fc.double(), fc.constant('1')),
        lineage: fc.constantFrom<unknown>('l', '', 1, null),
        resources: jsonOf(STATE_KEYS, STATE_WORDS),
      })
      .map((each) => JSON.stringify(each)),
  ),
  (text) => {
    const bytes = Buffer.from(text);
    const read = parseState(bytes);
    if (read === null) return;
    assert.ok(
      Number.isSafeInteger(read.serial) &&
        read.serial >= 0 &&
        Number.isSafeInteger(read.resources) &&
        read.resources >= 0,
    );
    assert.ok(read.bytes.equals(bytes));
  },
);

const word = texts(['--flag', '/bin/sh', '\n', 'a=b']).map((text) => text.replaceAll('\0', ''));
const list = fuzzTarget('launch-list', fc.array(fc.oneof(word, anyText(200)), { maxLength: 8 }), async (given) => {
  const bytes = Buffer.alloc(LIST_BYTES);
  const calls = new CallList({ address: 0n, bytes, words: new BigInt64Array(bytes.buffer) });
  const at = await unlessRefused(() => calls.texts(given), TextRefused);
  assert.equal(
    at === undefined,
    given.some((text) => text.includes('\0')),
  );
  if (at === undefined) return;
  const pointers = given.map((_, index) => Number(bytes.readBigInt64LE(Number(at) + 8 * index)));
  const read = pointers.map((from) => bytes.subarray(from, bytes.indexOf(0, from)));
  assert.deepEqual(
    read,
    given.map((text) => Buffer.from(text)),
  );
  assert.equal(bytes.readBigInt64LE(Number(at) + 8 * given.length), 0n);
});

const events = fc.array(
  fc.record({
    stream: fc.constantFrom(...CHUNK_STREAMS),
    text: anyText(200),
    ts: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  }),
  { minLength: 1, maxLength: 20 },
);

const chunk = fuzzTarget(
  'chunk',
  fc.tuple(fc.uint8Array({ maxLength: 4_096 }), events, fc.nat(), fc.nat(255)),
  async ([noise, some, at, byte]) => {
    await unlessRefused(() => decodeChunk(noise, { after: 0, limit: 100 }), ChunkCorrupt);
    const whole = await unlessRefused(
      () =>
        encodeChunk(some.map((event, n) => ({ ...event, seq: n + 1 })) as unknown as Parameters<typeof encodeChunk>[0]),
      RangeError,
      TypeError,
    );
    if (whole === undefined) return;
    const damaged = Buffer.from(whole);
    damaged[at % damaged.length] = byte;
    await unlessRefused(() => decodeChunk(damaged, { after: 0, limit: 100 }), ChunkCorrupt);
  },
);

export const FILE_TARGETS: readonly FuzzTarget[] = [plan, planFile, state, list, chunk];
