import * as z from 'zod';
import { EVENT_OUTCOMES, EVENT_SOURCES } from '../../domain/events/event.ts';
import { READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { fromJson } from '../../lib/json.ts';
import { explainSteps } from '../../reaction/explain.ts';
import { countEvents, getEvent, listEvents, type ListedEvent } from '../../store/events/events.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import { listInBatches, replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { readOperation, type Operation } from '../core/operation.ts';
import { hideSecrets, type SecretPlace } from '../secrets/hide-secrets.ts';
import { reply } from '../core/reply.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';

/** The sum of all outcomes, as in the summary. */
const ALL = 'received';

/** An event row as lists show it. */
export function eventView(row: ListedEvent): ViewItem<'event.list'> {
  return {
    ...row,
    source: row.source as ViewItem<'event.list'>['source'],
    name: row.name ?? undefined,
    status: (row.status ?? undefined) as 'firing' | 'resolved' | undefined,
    netgroup: row.netgroup ?? undefined,
    labels: fromJson(row.labels),
    received_at: rfc3339(row.received_at),
    check_observations: row.check_observations === null ? undefined : fromJson(row.check_observations),
  };
}

const list = readOperation({
  id: 'event.list',
  summary: 'List events with their outcome and reason, newest first',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/events' },
  cli: {
    verb: 'event list',
    item: 'event',
    examples: ['svc event list', 'svc event list --source alertmanager --outcome error'],
  },
  mcp: { tool: 'event_list' },
  input: z.strictObject({
    source: field.oneOf(EVENT_SOURCES).optional().describe('Only events from this source'),
    outcome: field
      .oneOf([...EVENT_OUTCOMES, ALL])
      .optional()
      .describe('Only events with this outcome; received is all'),
    limit: field.limit(25).describe('Maximum number of rows; 0 is all'),
  }),
  answers: ['event.list'],
  async run({ store }, { source, outcome: wanted, limit }) {
    const outcome = wanted === ALL ? undefined : wanted;
    const read = (before: string | undefined, rows: number) => listEvents(store.db, { source, outcome, before }, rows);
    return replyList('event.list', listInBatches(read, eventView, limit));
  },
});

const summary = readOperation({
  id: 'event.summary',
  summary: 'Count all received events by outcome',
  scopes: READERS,
  http: { method: 'GET', path: '/events/summary' },
  cli: { verb: 'event summary', examples: ['svc event summary'] },
  mcp: { tool: 'event_summary' },
  answers: ['event.summary'],
  async run({ store }) {
    const counts = await countEvents(store.db);
    const received = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return reply('event.summary', { received, ...counts });
  },
});

const get = readOperation({
  id: 'event.get',
  summary: 'Show one event, its outcome and the reason',
  scopes: READERS,
  http: { method: 'GET', path: '/events/{id}' },
  cli: {
    verb: 'event get',
    remark: 'became',
    next: 'event trace',
    positionals: ['id'],
    examples: ['svc event get evt_01m7yd4zyke00anp2z332d2j5p'],
  },
  mcp: { tool: 'event_get' },
  input: z.strictObject({ id: field.id('evt') }),
  answers: ['event.get'],
  failures: ['not_found'],
  async run({ store: { db } }, { id }) {
    const row = await getEvent(db, id);
    const job = row.job_id === null ? undefined : await findJob(db, row.job_id);
    return reply('event.get', { ...eventView(row), job_state: job?.state ?? null });
  },
});

const trace = readOperation({
  id: 'event.trace',
  summary: 'Show the steps that led to the outcome of an event, and annotations',
  scopes: READERS,
  http: { method: 'GET', path: '/events/{id}/trace' },
  cli: { verb: 'event trace', positionals: ['id'], examples: ['svc event trace evt_01m7yd4zyke00anp2z332d2j5p'] },
  mcp: { none: 'event_get answers the outcome and its reason.' },
  input: z.strictObject({ id: field.id('evt') }),
  answers: ['event.trace'],
  failures: ['not_found', 'conflict'],
  async run({ store, services, caller }, { id }) {
    const row = await getEvent(store.db, id);
    const rulesNow = async () => (await services.reaction.rules.current()).rulesFor(row.source).rules;
    const steps = [...(await explainSteps(store.db, row, rulesNow))];
    const read = { steps, annotations: fromJson(row.annotations) };
    const shown = caller.credential === 'local' ? read : await withoutSecrets({ store, services }, read);
    return reply('event.trace', { event_id: id, outcome: row.outcome, reason: row.reason, ...shown });
  },
});

type Trace = Pick<ViewData<'event.trace'>, 'steps' | 'annotations'>;

/** Terms of a rule and texts of a sender may hold a secret, as in an order. */
async function withoutSecrets(place: SecretPlace, { steps, annotations }: Trace): Promise<Trace> {
  const texts = steps.map(({ why, terms = [] }) => ({
    why,
    terms: terms.map(({ term, why: of }) => ({ term, why: of })),
  }));
  const hidden = await hideSecrets(place, { texts, annotations });
  const shown = steps.map(({ terms, ...step }, at) => {
    const { why = '', terms: words = [] } = hidden.texts[at] ?? {};
    return {
      ...step,
      why,
      ...(terms === undefined ? {} : { terms: terms.map((term, of) => ({ ...term, ...words[of] })) }),
    };
  });
  return { steps: shown, annotations: hidden.annotations };
}

export const EVENT_OPERATIONS: readonly Operation[] = [list, summary, get, trace];
