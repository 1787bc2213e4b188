import { READERS } from '../domain/scope.ts';
import { rfc3339 } from '../lib/clock.ts';
import { NO_INPUT } from './fields.ts';
import { readOperation } from './operation.ts';
import { reply } from './reply.ts';

const whoami = readOperation({
  id: 'whoami',
  summary: 'Show the identity of the calling token and the server',
  effect: 'read',
  scopes: READERS,
  http: { method: 'GET', path: '/whoami' },
  cli: { verb: 'whoami', examples: ['svc whoami'] },
  mcp: { none: 'An agent knows its own token.' },
  input: NO_INPUT,
  answers: ['whoami'],
  failures: [],
  async run({ caller, services: { server } }) {
    return reply('whoami', {
      id: caller.id,
      name: caller.name,
      scope: caller.scope,
      via: caller.via,
      expires_at: caller.expiresAt === null ? null : rfc3339(caller.expiresAt),
      server: {
        ...(server.version === '' ? {} : { version: server.version }),
        ...(server.hostname === null ? {} : { hostname: server.hostname }),
        ...(server.startedAt === null ? {} : { started_at: rfc3339(server.startedAt) }),
      },
    });
  },
});

const doctor = readOperation({
  id: 'doctor',
  summary: 'Check each part of the installation on its own',
  effect: 'read',
  scopes: READERS,
  http: { method: 'GET', path: '/health' },
  cli: { verb: 'doctor', examples: ['svc doctor', 'svc doctor --output json'] },
  mcp: { tool: 'health' },
  input: NO_INPUT,
  answers: ['doctor'],
  failures: [],
  run: async ({ services }) => reply('doctor', [...(await services.doctor())]),
});

export const SERVICE_OPERATIONS = [whoami, doctor];
