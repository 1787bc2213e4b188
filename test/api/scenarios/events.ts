import assert from 'node:assert/strict';
import { EVENT_OUTCOMES } from '../../../src/domain/events/event.ts';
import { toJson } from '../../../src/lib/json.ts';
import type { EventRow } from '../../../src/store/schema/schema.ts';
import { putEvents } from '../../support/fixtures/events.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';

const EVENTS = '/api/v1/events';
const UNKNOWN = 'evt_00000000000000000000000000';
const AT = Date.UTC(2026, 4, 1, 12);

/** Puts them in; `first`, `second` and so on are their ids. */
function put(...rows: readonly Partial<EventRow>[]): (program: Program) => Promise<Readonly<Record<string, string>>> {
  return async ({ store }) => {
    const made = await putEvents(store, rows);
    return Object.fromEntries(['first', 'second', 'third'].map((name, at) => [name, made[at]?.id ?? '']));
  };
}

/** The contract's fields in their order, with every optional one. */
const CHECK_FIELDS = new RegExp(
  String.raw`"data":\{"id":"evt_[0-9a-z]{26}","source":"check","name":"web","status":"firing",` +
    String.raw`"netgroup":"away","severity":null,"fingerprint":null,"labels":\{"instance":"db1"\},` +
    String.raw`"outcome":"fired","reason":"r","rule":"x","job_id":"job_1","approval_id":null,` +
    String.raw`"received_at":"2026-05-01T12:00:00\.000Z",` +
    String.raw`"check_observations":\[\{"observed_at":"2026-05-01T11:59:00\.000Z","status":"down",` +
    String.raw`"consecutive":"2 of 3"\}\],"job_state":null\}\}\n$`,
);
const PLAIN_FIELDS = new RegExp(
  String.raw`"data":\{"id":"evt_[0-9a-z]{26}","source":"generic","severity":"critical",` +
    String.raw`"fingerprint":"disk-1","labels":\{"instance":"db1"\},"outcome":"ignored","reason":"[^"]+",` +
    String.raw`"rule":null,"job_id":null,"approval_id":null,"received_at":"[^"]+","job_state":null\}\}\n$`,
);

const LISTS: readonly Scenario[] = [
  {
    operation: 'event.list',
    rule: 'is an empty list where nothing came in, never absent',
    as: 'readonly',
    send: { method: 'GET', path: EVENTS },
    expect: { status: 200, kind: 'event.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'event.list',
    rule: 'answers the 25 newest, newest first, without a limit',
    async given({ store }) {
      const rows = await putEvents(
        store,
        Array.from({ length: 30 }, (_, n) => ({ name: `n${n}` })),
      );
      return { newest: rows.at(-1)?.id ?? '' };
    },
    as: 'readonly',
    send: { method: 'GET', path: EVENTS },
    expect: {
      status: 200,
      kind: 'event.list',
      text: /"data":\[\{"id":"evt_[0-9a-z]{26}","source":"generic","name":"n29"/,
    },
    async afterwards(_program, _given, body) {
      assert.equal((body as { data: unknown[] }).data.length, 25);
      await Promise.resolve();
    },
  },
  {
    operation: 'event.list',
    rule: 'takes a source and an outcome together',
    given: put({ source: 'gatus', outcome: 'fired' }, { source: 'gatus' }, { outcome: 'fired' }),
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}?source=gatus&outcome=fired` },
    expect: { status: 200, kind: 'event.list', data: [{ source: 'gatus', outcome: 'fired' }] },
    expectNot: ['$second', '$third'],
  },
  {
    operation: 'event.list',
    rule: 'takes the outcome received for all of them',
    given: put({ source: 'gatus', outcome: 'fired' }, { source: 'gatus', outcome: 'ignored' }),
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}?source=gatus&outcome=received` },
    expect: { status: 200, kind: 'event.list', data: [{ outcome: 'ignored' }, { outcome: 'fired' }] },
  },
  {
    operation: 'event.list',
    rule: 'refuses a negative limit',
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}?limit=-1` },
    expect: { status: 400, code: 'invalid_argument', message: /^limit: / },
  },
  {
    operation: 'event.list',
    rule: 'refuses an unknown outcome and names the known ones',
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}?outcome=lost` },
    expect: {
      status: 400,
      code: 'invalid_argument',
      message: new RegExp(`^outcome: expected one of ${EVENT_OUTCOMES.join(', ')}, received`),
    },
  },
  {
    operation: 'event.list',
    rule: 'refuses an unknown source',
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}?source=nagios` },
    expect: { status: 400, code: 'invalid_argument', message: /^source: expected one of generic, alertmanager/ },
  },
];

const DETAILS: readonly Scenario[] = [
  {
    operation: 'event.get',
    rule: 'has the fields of the contract in their order, with those of a check',
    given: put({
      source: 'check',
      name: 'web',
      netgroup: 'away',
      severity: null,
      fingerprint: null,
      outcome: 'fired',
      reason: 'r',
      rule: 'x',
      job_id: 'job_1',
      received_at: AT,
      check_observations: toJson([{ observed_at: '2026-05-01T11:59:00.000Z', status: 'down', consecutive: '2 of 3' }]),
    }),
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}/$first` },
    expect: { status: 200, kind: 'event.get', text: CHECK_FIELDS },
    expectNot: ['this is never shown'],
  },
  {
    operation: 'event.get',
    rule: 'leaves out the fields that the contract omits where there is nothing to say',
    given: put({ name: null, status: null }),
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}/$first` },
    expect: { status: 200, kind: 'event.get', text: PLAIN_FIELDS },
  },
  {
    operation: 'event.get',
    rule: 'does not know an event that is not there',
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}/${UNKNOWN}` },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'event.get',
    rule: 'refuses a malformed id',
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}/42` },
    expect: { status: 400, code: 'invalid_argument', message: /^id: / },
  },
  {
    operation: 'event.get',
    rule: 'is nothing for a host',
    as: 'host',
    send: { method: 'GET', path: `${EVENTS}/${UNKNOWN}` },
    expect: { status: 403, code: 'forbidden' },
  },
];

const SUMMARIES: readonly Scenario[] = [
  {
    operation: 'event.summary',
    rule: 'is all zeros where nothing came in',
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}/summary` },
    expect: {
      status: 200,
      kind: 'event.summary',
      text: /"data":\{"received":0,"ignored":0,"matched":0,"suppressed":0,"gated":0,"fired":0,"error":0\}\}\n$/,
    },
  },
  {
    operation: 'event.summary',
    rule: 'adds up',
    given: put(...EVENT_OUTCOMES.map((outcome) => ({ outcome })), { outcome: 'fired' }),
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}/summary` },
    expect: {
      status: 200,
      kind: 'event.summary',
      data: { received: 7, ignored: 1, matched: 1, suppressed: 1, gated: 1, fired: 2, error: 1 },
    },
  },
  {
    operation: 'event.summary',
    rule: 'has no window: a parameter is refused',
    as: 'readonly',
    send: { method: 'GET', path: `${EVENTS}/summary?since=1h` },
    expect: { status: 400, code: 'invalid_argument' },
    async afterwards(program) {
      assert.equal((await send(program, 'readonly', { method: 'GET', path: `${EVENTS}/summary` })).status, 200);
    },
  },
];

export const EVENT_SCENARIOS: readonly Scenario[] = [...LISTS, ...DETAILS, ...SUMMARIES];
