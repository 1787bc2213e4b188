import * as z from 'zod';
import { shownAgent } from '../../domain/access/agent.ts';
import { READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { HEADS_CHARS_MAX, readHeads, withHeads } from '../audit/audit.ts';
import * as field from '../core/fields.ts';
import { readOperation, type StorelessContext } from '../core/operation.ts';
import { type Reply, reply } from '../core/reply.ts';

const whoami = readOperation({
  id: 'whoami',
  summary: 'Show the identity of the caller and the server',
  scopes: READERS,
  http: { method: 'GET', path: '/whoami' },
  cli: { verb: 'whoami', examples: ['svc whoami'] },
  mcp: { none: 'An agent knows its own token.' },
  answers: ['whoami'],
  run: (context) => Promise.resolve(whoamiReply(context)),
  async runWithoutStore(context) {
    // Without a data directory there is no service whose identity could be shown.
    if (context.reason instanceof Failure && context.reason.code === 'not_found') throw context.reason;
    return Promise.resolve(whoamiReply(context));
  },
});

function whoamiReply({ caller, services: { server } }: Omit<StorelessContext, 'reason'>): Reply {
  return reply('whoami', {
    id: caller.id,
    name: caller.name,
    scope: caller.scope,
    via: caller.via,
    expires_at: caller.expiresAt === null ? null : rfc3339(caller.expiresAt),
    server: {
      version: server.version || undefined,
      hostname: server.hostname ?? undefined,
      started_at: server.startedAt === null ? undefined : rfc3339(server.startedAt),
    },
    ...shownAgent(caller.agent),
  });
}

const doctor = readOperation({
  id: 'doctor',
  summary: 'Check each part of the installation',
  scopes: READERS,
  http: { method: 'GET', path: '/health', omit: ['ledger_head'] },
  cli: { verb: 'doctor', examples: ['svc doctor', 'svc doctor --ledger-head heads.txt'] },
  mcp: { tool: 'health_get' },
  input: z.strictObject({
    ledger_head: field
      .as('FILE', field.text(HEADS_CHARS_MAX))
      .optional()
      .describe('Compare with the output of svc audit head'),
  }),
  answers: ['doctor'],
  async run({ store, services }, { ledger_head: text }) {
    const heads = text === undefined ? [] : readHeads(text);
    const report = await services.doctor();
    return reply('doctor', heads.length === 0 ? [...report] : await withHeads(store.db, report, heads));
  },
  async runWithoutStore({ services, reason }, { ledger_head: text }) {
    if (text !== undefined && readHeads(text).length > 0) throw reason;
    return reply('doctor', [...(await services.doctor())]);
  },
});

export const SERVICE_OPERATIONS = [whoami, doctor];
