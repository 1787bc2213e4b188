import { subjectOf } from '../../domain/events/causes.ts';
import { leaveCause } from '../../store/events/causes.ts';
import * as z from 'zod';
import { parseDuration } from '../../domain/duration.ts';
import { Failure } from '../../domain/failure.ts';
import { MUTE_SCOPES } from '../../domain/rules/rule.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { newId } from '../../lib/id.ts';
import { evaluateEnding } from '../../reaction/mute-endings.ts';
import { previewMute } from '../../reaction/mutes/mute-preview.ts';
import { decideAndRecord } from '../../reaction/decide-and-record.ts';
import { deleteMute, findMute, insertMute, listMutes } from '../../store/rules/mutes.ts';
import type { MuteRow } from '../../store/schema/schema.ts';
import { listInBatches, replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation, type Operation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

/** As long as the name of an event may be. */
const SCOPE_VALUE_MAX = 200;
/** As long as the reason of a decision. */
const REASON_MAX = 1_000;
/** The last millisecond whose RFC 3339 form has a year of four digits. */
const LATEST_MS = Date.UTC(10_000, 0, 1) - 1;

const NO_AGENT = { none: 'People decide which notifications they get.' };

function muteView(row: MuteRow): ViewItem<'mute.list'> {
  return { ...row, expires_at: rfc3339(row.expires_at) };
}

const list = readOperation({
  id: 'mute.list',
  summary: 'List mutes, newest first',
  scopes: READERS,
  http: { method: 'GET', path: '/mutes' },
  cli: { verb: 'mute list', examples: ['svc mute list', 'svc mute list --all'] },
  mcp: NO_AGENT,
  input: z.strictObject({ all: field.flag.describe('Include expired ones') }),
  answers: ['mute.list'],
  async run({ store, services }, { all }) {
    const activeAt = all ? null : await store.dialect.clock(store.db, services.clock.now());
    const read = (before: string | undefined, rows: number) => listMutes(store.db, { activeAt, before }, rows);
    return replyList('mute.list', listInBatches(read, muteView));
  },
});

const GIVEN = z.strictObject({
  scope_kind: field.oneOf(MUTE_SCOPES).describe('What to mute'),
  scope_value: field.text(SCOPE_VALUE_MAX).optional().describe('Name of the alert or of the host'),
  reason: field.text(REASON_MAX).optional().describe('Reason, shown with the mute'),
  for: field.duration.optional().describe('Duration, such as 2h; required unless the end time is given'),
  expires_at: field.time
    .optional()
    .describe('End time in RFC 3339, such as 2026-11-21T12:00:00Z; required unless the duration is given'),
});

const add = writeOperation({
  id: 'mute.add',
  causes: { none: 'Its creator is in the row, and so in the chain of the event of its end.' },
  summary: 'Mute notifications of one alert, one host or all; jobs still run',
  scopes: OPERATORS,
  bearerOnly: true,
  http: { method: 'POST', path: '/mutes' },
  cli: {
    verb: 'mute add',
    positionals: ['scope_kind', 'scope_value'],
    examples: [
      'svc mute add alert DiskFull --for 2h --reason "new disks on Monday"',
      'svc mute add host db1.example.org --for 30m',
    ],
  },
  mcp: NO_AGENT,
  input: GIVEN,
  answers: ['mute.get'],
  async run({ tx, caller }, input) {
    const now = await tx.dialect.clock(tx.db, tx.now);
    const row: MuteRow = {
      id: newId('mute', tx.now),
      scope_kind: input.scope_kind,
      scope_value: valueOf(input),
      reason: input.reason === undefined || input.reason === '' ? null : input.reason,
      created_via: caller.via,
      created_by: caller.owner,
      created_at: now,
      expires_at: expiryOf(input, now),
      ended_at: null,
    };
    await insertMute(tx, row);
    const { scope_kind, scope_value = null } = input;
    return written(reply('mute.get', muteView(row)), row.id, { scope_kind, scope_value });
  },
});

interface MuteInput {
  readonly scope_kind: MuteRow['scope_kind'];
  readonly scope_value?: string | undefined;
  readonly for?: string | undefined;
  readonly expires_at?: string | undefined;
}

/** Throws invalid_argument. A global mute with a value is refused: who gave it one did not mean to hold everything. */
function valueOf({ scope_kind: kind, scope_value: value = '' }: MuteInput): string | null {
  if (kind !== 'global') {
    if (value.trim() === '')
      throw new Failure('invalid_argument', `scope_value: required for a mute of scope ${kind}.`);
    return value;
  }
  if (value !== '') throw new Failure('invalid_argument', 'scope_value: a global mute has none.');
  return null;
}

/** When the mute ends, in milliseconds. Throws invalid_argument where that is not one time that is still to come. */
function expiryOf({ for: span, expires_at: at }: MuteInput, now: number): number {
  if ((span === undefined) === (at === undefined))
    throw new Failure('invalid_argument', 'for, expires_at: expected exactly one of them.');
  if (span !== undefined) {
    const ms = parseDuration(span);
    if (ms === null || ms <= 0)
      throw new Failure('invalid_argument', 'for: expected a positive duration such as 30m, 2h or 7d.');
    return upTo('for', now + ms);
  }
  const ms = Date.parse(at ?? '');
  if (!(ms > now))
    throw new Failure('invalid_argument', `expires_at: expected a time in the future; it is ${rfc3339(now)} now.`);
  return upTo('expires_at', ms);
}

function upTo(name: string, ms: number): number {
  if (ms > LATEST_MS) throw new Failure('invalid_argument', `${name}: expected a time before the year 10000.`);
  return ms;
}

const preview = readOperation({
  id: 'mute.preview',
  summary: 'Show what a mute would have held in the last 7 days',
  scopes: READERS,
  ...localOnly('The API has no route for it; the console shows the same.'),
  cli: {
    verb: 'mute preview',
    positionals: ['scope_kind', 'scope_value'],
    examples: ['svc mute preview alert DiskFull', 'svc mute preview host db1.example.org --for 30m'],
  },
  input: GIVEN,
  answers: ['mute.preview'],
  async run({ store, services: { clock } }, input) {
    const now = await store.dialect.clock(store.db, clock.now());
    const value = valueOf(input);
    // Without an end it is a question, with one it is checked as `mute add` checks it.
    if (input.for !== undefined || input.expires_at !== undefined) expiryOf(input, now);
    const { sinceMs, examined, held, newest } = await previewMute(
      store.db,
      { kind: input.scope_kind, value },
      now,
      clock,
    );
    return reply('mute.preview', {
      scope_kind: input.scope_kind,
      scope_value: value,
      since: rfc3339(sinceMs),
      would_hold: held,
      examined,
      newest: newest.map(({ made, ...each }) => ({ created_at: rfc3339(made), ...each })),
    });
  },
});

const remove = writeOperation({
  id: 'mute.remove',
  causes: { of: 'mute', by: 'the write itself, before the event that it makes' },
  summary: 'Remove a mute before it expires',
  scopes: OPERATORS,
  bearerOnly: true,
  http: { method: 'DELETE', path: '/mutes/{id}' },
  cli: { verb: 'mute remove', positionals: ['id'], examples: ['svc mute remove mute_01m7yd4zyke00anp2z332d2j5p'] },
  mcp: NO_AGENT,
  input: z.strictObject({ id: field.id('mute') }),
  failures: ['not_found'],
  async prepare({ store, services }, { id }) {
    const mute = await findMute(store.db, id);
    return mute?.ended_at === null ? evaluateEnding(services.reaction, mute) : null;
  },
  async run({ tx, services, caller }, { id }, ending) {
    // Ended in this moment by the pass that looks for it: then that made the event.
    const { ended_at: endedAt } = await deleteMute(tx, id);
    await leaveCause(tx, subjectOf('mute', id), caller.owner);
    if (ending !== null && endedAt === null) await decideAndRecord(services.reaction, tx, ending);
    return written(replyNone, id);
  },
});

export const MUTE_OPERATIONS: readonly Operation[] = [list, add, preview, remove];
