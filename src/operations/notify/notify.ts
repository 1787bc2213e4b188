import { isIP } from 'node:net';
import * as z from 'zod';
import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { isTerminal } from '../../domain/jobs/job.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { type Clock, rfc3339 } from '../../lib/clock.ts';
import { hostOfUrl } from '../../lib/host-port.ts';
import { newId } from '../../lib/id.ts';
import { DialFailed } from '../../dial/dial-failed.ts';
import { publicAddresses, resolvePublic } from '../../dial/guard.ts';
import { readPushKeys } from '../../push/encrypt.ts';
import { ENDPOINT_CHARS_MAX, readEndpointUrl } from '../../push/endpoint-url.ts';
import { CONNECT_MS, Limit } from '../../dial/limits.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { armJob, deleteEndpoint, findArmed, insertEndpoint, listEndpoints } from '../../store/notify/endpoints.ts';
import { requestNotification } from '../../store/notify/notifications.ts';
import type { EndpointRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation, type Operation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

const OWN_DEVICE = { none: 'An endpoint is the device of a person, who registers it.' };

function endpointView(row: EndpointRow, caller: Caller): ViewItem<'notify.endpoint.list'> {
  return {
    id: row.id,
    endpoint: row.endpoint,
    ...(row.label === null ? {} : { label: row.label }),
    created_at: rfc3339(row.created_at),
    ...(row.owner === caller.owner ? {} : { owner: row.owner }),
  };
}

const list = readOperation({
  id: 'notify.endpoint.list',
  summary: 'List the push endpoints that this token registered',
  scopes: READERS,
  http: { method: 'GET', path: '/notify/endpoints' },
  cli: { verb: 'notify endpoint list', examples: ['svc notify endpoint list'] },
  mcp: OWN_DEVICE,
  answers: ['notify.endpoint.list'],
  run: async ({ store, caller }) =>
    reply(
      'notify.endpoint.list',
      (await listEndpoints(store.db, caller.id)).map((row) => endpointView(row, caller)),
    ),
});

const keyText = z.string().max(200, { error: 'expected base64url' });

/** A push carries links that decide. */
const PEOPLE_ONLY = 'Push endpoints belong to people: a token of a program has none.';

const add = writeOperation({
  id: 'notify.endpoint.add',
  causes: { none: 'People are notified; no event comes of it.' },
  summary: 'Register a push endpoint: an https URL on a public host',
  bearerOnly: true,
  noAgents: PEOPLE_ONLY,
  scopes: OPERATORS,
  http: { method: 'POST', path: '/notify/endpoints', omit: ['owner'] },
  cli: {
    verb: 'notify endpoint add',
    positionals: ['endpoint'],
    examples: [
      'svc notify endpoint add https://ntfy.example.com/up8f3kq2 --label phone',
      'svc notify endpoint add https://push.example.com/abc --owner ana --label "phone of ana"',
    ],
  },
  mcp: OWN_DEVICE,
  input: z.strictObject({
    endpoint: field.text(ENDPOINT_CHARS_MAX).describe('URL that receives the notifications'),
    label: z
      .string()
      .min(1, { error: 'expected text' })
      .max(100, { error: 'expected at most 100 characters' })
      .refine((text) => !text.includes('\0'), { error: 'a NUL character is not allowed' })
      .optional()
      .describe('Your name for the device'),
    keys: z
      .strictObject({ p256dh: keyText, auth: keyText })
      .optional()
      .describe('Keys of a Web Push subscription; notifications are then encrypted'),
    owner: field.unreservedName.optional().describe('Owner whose device it is; default the user of this command'),
  }),
  answers: ['notify.endpoint'],
  failures: ['conflict', 'invalid_argument'],
  async prepare({ services }, { endpoint, keys }): Promise<URL> {
    const url = readEndpointUrl(endpoint);
    if (keys !== undefined) readPushKeys(keys);
    if (isIP(hostOfUrl(url)) === 0) await requirePublicHost(url, services.clock);
    return url;
  },
  async run({ tx, caller, services }, { label, keys, owner }, url) {
    const row = await insertEndpoint(tx, {
      id: newId('ep', tx.now),
      token_id: caller.id,
      owner: owner ?? caller.owner,
      endpoint: url.href,
      label: label ?? null,
      p256dh: keys?.p256dh ?? null,
      auth: keys?.auth ?? null,
    });
    // Approvals without a recipient are waiting for it.
    tx.afterCommit(() => services.wake());
    // The URL is a capability and stays out of the ledger.
    return written(reply('notify.endpoint', endpointView(row, caller)), row.id, owner === undefined ? {} : { owner });
  },
});

/** Asks for the addresses of a name, for no longer than a send would wait. */
async function requirePublicHost(url: URL, clock: Clock): Promise<void> {
  const limit = new Limit(clock);
  limit.set(CONNECT_MS, 'the host cannot be resolved');
  try {
    await limit.during(publicAddresses(url, resolvePublic, limit.signal));
  } catch (error) {
    if (error instanceof DialFailed) throw new Failure('invalid_argument', `endpoint: ${error.message}.`);
    throw error;
  } finally {
    limit.close();
  }
}

const remove = writeOperation({
  id: 'notify.endpoint.remove',
  causes: { none: 'People are notified; no event comes of it.' },
  summary: 'Remove a push endpoint of this token',
  bearerOnly: true,
  noAgents: PEOPLE_ONLY,
  scopes: OPERATORS,
  http: { method: 'DELETE', path: '/notify/endpoints/{id}' },
  cli: {
    verb: 'notify endpoint remove',
    positionals: ['id'],
    examples: ['svc notify endpoint remove ep_01m7yd4zyke00anp2z332d2j5p'],
  },
  mcp: OWN_DEVICE,
  input: z.strictObject({ id: field.id('ep') }),
  failures: ['not_found'],
  async run({ tx, caller }, { id }) {
    await deleteEndpoint(tx, id, caller.id);
    return written(replyNone, id);
  },
});

const key = readOperation({
  id: 'notify.key',
  summary: 'Show the public key that a browser subscribes to notifications with',
  scopes: READERS,
  ...localOnly('A browser gets it from the devices page of the console.'),
  cli: { verb: 'notify key', examples: ['svc notify key'] },
  answers: ['notify.key'],
  run: async ({ services }) => reply('notify.key', { public_key: await services.pushKey() }),
});

const test = writeOperation({
  id: 'notify.test',
  causes: { none: 'People are notified; no event comes of it.' },
  summary: 'Send a test notification',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/notify/test' },
  cli: { verb: 'notify test', examples: ['svc notify test'] },
  mcp: OWN_DEVICE,
  answers: ['notify.test'],
  async run({ tx, caller, services }) {
    const page = newId('page', tx.now);
    await requestNotification(tx, { id: page, topic: `test:${page}`, facts: { kind: 'test', by: caller.name } });
    const { length } = await listEndpoints(tx.db, caller.id);
    tx.afterCommit(() => services.wake());
    return written(reply('notify.test', { page_id: page, endpoints: length }), page);
  },
});

const arm = writeOperation({
  id: 'job.notify',
  causes: { none: 'People are notified; no event comes of it.' },
  summary: 'Send one notification when the job ends, whatever its result',
  bearerOnly: true,
  scopes: OPERATORS,
  http: { method: 'POST', path: '/jobs/{id}/notify' },
  cli: { verb: 'job notify', positionals: ['id'], examples: ['svc job notify job_01m7yd4zyke00anp2z332d2j5p'] },
  mcp: { none: 'People decide who gets notifications.' },
  input: z.strictObject({ id: field.id('job') }),
  answers: ['job.notify'],
  failures: ['not_found', 'conflict'],
  async run({ tx, caller, services }, { id }) {
    const job = await getJob(tx.db, id);
    if (isTerminal(job.state))
      throw new Failure('conflict', `Job ${id} is ${job.state} already; no notification will be sent.`);
    await armJob(tx, { job_id: id, armed_by: caller.name, owner: caller.owner });
    const armed = await findArmed(tx.db, id);
    tx.afterCommit(() => services.wake());
    const armedAt = rfc3339(armed?.armed_at ?? tx.now);
    return written(reply('job.notify', { job_id: id, state: job.state, armed_at: armedAt }), id);
  },
});

export const NOTIFY_OPERATIONS: readonly Operation[] = [list, add, remove, key, test, arm];
