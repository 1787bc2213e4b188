/** What operators write: rule files, conditions, policies, times, names. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { compileCel, parseCel } from '../../../src/domain/cel/cel.ts';
import { CelRefused } from '../../../src/domain/cel/refused.ts';
import { formatDuration, parseDuration, requireDuration } from '../../../src/domain/duration.ts';
import type { EventFacts } from '../../../src/domain/events/event.ts';
import { NAME } from '../../../src/domain/name.ts';
import { judge, lintPolicy } from '../../../src/domain/workspaces/policy.ts';
import { compileCondition, storedCondition } from '../../../src/domain/conditions/condition.ts';
import { readRuleFile } from '../../../src/domain/rules/file.ts';
import { timetableReader } from '../../../src/domain/schedules/timetable.ts';
import { formatToken, newSecret, parseToken } from '../../../src/domain/access/token.ts';
import { readYaml } from '../../../src/domain/yaml/file.ts';
import { isId, newId } from '../../../src/lib/id.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { pieces, texts } from './texts.ts';

const YAML = [
  'name: x\n',
  'when: true\n',
  "when: event.name == 'DiskFull'\n",
  'action:\n',
  '  notify: true\n',
  '  notify: "${event.name}"\n',
  '  command: ["df", "${event.labels.host}"]\n',
  '  inventory: localhost\n',
  '  limit: ${event.labels.instance}\n',
  '  plan: net\n',
  'approval: required\n',
  'cooldown: 5m\n',
  'approval_ttl: 1h\n',
  '- a\n',
  '  - b\n',
  'a: {b: c}\n',
  '[a, b]\n',
  '|\n  x\n',
  '>-\n  y\n',
  '# c\n',
  '&a ',
  '*a ',
  '<<: *a\n',
  '!!js ',
  '? ',
  '---\n',
  '...\n',
  '"',
  "'",
  '\t',
];
const CEL = [
  'event',
  '.labels',
  '.name',
  '.status',
  '.severity',
  '.annotations',
  '.instance',
  '["x"]',
  ' == ',
  ' != ',
  ' && ',
  ' || ',
  '!',
  '(',
  ')',
  ' ? ',
  ' : ',
  '"firing"',
  "'a'",
  '1',
  '2.5',
  '-',
  ' + ',
  ' in ',
  '[1, 2]',
  '{"a": 1}',
  '.matches("^a+$")',
  '.startsWith("a")',
  '.contains("b")',
  'size(',
  'has(event.labels.x)',
  '.exists(l, l == "a")',
  '.all(x, x > 1)',
  '.map(x, x)',
  '.filter(x, true)',
  'plan.destroys',
  '.exists(r, r.type == "aws_db")',
  'duration("5m")',
  'timestamp(',
  'true',
  'false',
  'null',
  'r"\\d+"',
  'b"x"',
  '0x1f',
  '1u',
  'int(',
  'string(',
];
const DURATIONS = ['1', '30', '999999', 'd', 'h', 'm', 's', 'ms', ' ', '-', '.'];
const CRON = [
  '*',
  '*/5',
  '0',
  '3',
  '59',
  '60',
  '1-5',
  '1,2,3',
  'L',
  '#2',
  'MON',
  'JAN',
  '?',
  '5L',
  '15W',
  ' ',
  ' ',
  ' ',
  ' ',
  '@daily',
  '/',
  '-',
  ',',
  '29',
  '2',
  '31',
  '0 3 * * *',
  '*/7 2 29 2 *',
  '30 2 * * 0',
];
const ZONES =
  'UTC Europe/Berlin America/New_York Pacific/Apia Asia/Kathmandu Etc/GMT+5 Antarctica/Troll +01:00 nowhere'.split(' ');
const NAMES = ['a', 'net', '-', '_', '.', '/', '..', 'A', '0', 'x'.repeat(63)];

const FACTS: EventFacts = {
  source: 'generic',
  name: 'DiskFull',
  status: 'firing',
  severity: 'critical',
  fingerprint: 'f',
  labels: { instance: 'web1:9100', x: '1' },
  annotations: {},
  netgroup: null,
  receivedAt: 1_700_000_000_000,
};
const DESTROYED = { address: 'a.b', type: 'a', name: 'b', action: 'destroy' } as const;
const PLANNED = { destroys: [DESTROYED], changes: [], creates: [] };

/** The times that a person asks for: 2000 to 2100. */
const moments = fc.integer({ min: 946_684_800_000, max: 4_102_444_800_000 });

const yaml = fuzzTarget('yaml', texts(YAML, 16_384), async (text) => void (await unlessRefused(() => readYaml(text))), {
  baseMs: 100,
  perCharacterMs: 0.02,
});

const ruleFile = fuzzTarget(
  'rule-file',
  fc.oneof(
    texts(YAML, 16_384),
    pieces(CEL).map((when) => `when: ${JSON.stringify(when)}\naction:\n  notify: "\${${when}}"\n`),
  ),
  async (text) => {
    const rule = await unlessRefused(() => readRuleFile(text));
    if (rule !== undefined)
      assert.ok(['command', 'plan', 'drift', 'apply', 'destroy', 'notify'].includes(rule.action.kind));
  },
  { baseMs: 300, perCharacterMs: 0.05 },
);

const celParse = fuzzTarget(
  'cel-parse',
  texts(CEL, 8_192),
  async (text) => void (await unlessRefused(() => parseCel(text), CelRefused)),
  { baseMs: 100, perCharacterMs: 0.05 },
);

/** The cost of an expression is bounded before it is evaluated, so that one evaluation is too. */
const celEvaluate = fuzzTarget(
  'cel-evaluate',
  texts(CEL, 4_096),
  async (text) => {
    const condition = await unlessRefused(() => compileCondition(text), CelRefused);
    const stored = await storedCondition(text);
    for (const each of [condition, stored]) {
      if (each === undefined) continue;
      const answer = each.evaluate(FACTS);
      assert.ok('error' in answer ? typeof answer.error === 'string' : typeof answer.value === 'boolean');
    }
  },
  { baseMs: 300, perCharacterMs: 0.1 },
);

const celCost = fuzzTarget(
  'cel-cost',
  texts(CEL, 4_096),
  async (text) => {
    const list = { kind: 'list', count: 1_000, of: { kind: 'text', length: 100 } } as const;
    const compiled = await unlessRefused(() => compileCel(text, { roots: { event: list }, samples: [] }), CelRefused);
    compiled?.evaluate({ event: Array.from({ length: 100 }, () => 'a'.repeat(100)) });
  },
  { baseMs: 1_000, perCharacterMs: 0.1 },
);

const policy = fuzzTarget(
  'policy',
  texts(CEL, 4_096),
  async (text) => {
    await unlessRefused(() => lintPolicy('deny_when', text));
    const { verdict } = await judge({ approveWhen: text, denyWhen: text }, PLANNED);
    assert.ok(['clean', 'require_approval', 'deny'].includes(verdict));
  },
  { baseMs: 1_000, perCharacterMs: 0.1 },
);

const duration = fuzzTarget(
  'duration',
  fc.tuple(texts(DURATIONS), fc.integer({ min: 0, max: 86_400_000 * 999_999 })),
  async ([text, ms]) => {
    assert.equal(parseDuration(formatDuration(ms)), ms);
    const read = parseDuration(text);
    if (read !== null)
      assert.ok(
        Number.isSafeInteger(read) &&
          read >= 0 &&
          (read > 999_999 * 86_400_000 || parseDuration(formatDuration(read)) === read),
        text,
      );
    await unlessRefused(() => requireDuration('x', text, 1, 1_000));
  },
);

const readTimetable = await timetableReader();

const cron = fuzzTarget(
  'cron',
  fc.record({
    line: fc.oneof(
      texts(CRON),
      fc.array(fc.constantFrom(...CRON), { minLength: 5, maxLength: 5 }).map((fields) => fields.join(' ')),
    ),
    zone: fc.constantFrom(...ZONES),
    from: moments,
  }),
  async ({ line, zone, from }) => {
    const timetable = await unlessRefused(() => readTimetable(line, zone));
    if (timetable === undefined) return;
    assert.equal(readTimetable(timetable.cron, timetable.timezone).cron, timetable.cron);
    let after = from;
    for (let n = 0; n < 5; n += 1) {
      const next: number | null = timetable.next(after);
      if (next === null) return;
      assert.ok(next > after && next % 1_000 === 0, `${next} after ${after}`);
      assert.equal(timetable.next(next - 1), next);
      after = next;
    }
  },
  { baseMs: 300, perCharacterMs: 0.05 },
);

const ids = fuzzTarget(
  'id',
  fc.tuple(texts(['job_', 'evt_', '01m7yd4zyke00anp2z332d2j5p', 'i', 'l', '_']), moments),
  ([text, now]) => {
    const id = newId('job', now);
    assert.ok(isId('job', id) && !isId('evt', id));
    if (isId('job', text)) assert.match(text, /^job_[0-9a-hjkmnp-tv-z]{26}$/);
    const secret = newSecret();
    assert.deepEqual(parseToken(formatToken(newId('tok', now), secret))?.secret, secret);
    const token = parseToken(text);
    if (token !== null) assert.equal(formatToken(token.id, token.secret), text);
  },
);

const names = fuzzTarget('name', texts(NAMES), (text) => {
  if (NAME.test(text)) assert.ok(text.length <= 63 && !/[/\\\s]|^[.-]/.test(text) && encodeURIComponent(text) === text);
});

export const RULE_TARGETS: readonly FuzzTarget[] = [
  yaml,
  ruleFile,
  celParse,
  celEvaluate,
  celCost,
  policy,
  duration,
  cron,
  ids,
  names,
];
