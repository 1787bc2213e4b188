import * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { LONGEST_EXPIRY_MS } from '../../domain/gate/opening.ts';
import { requireDuration } from '../../domain/duration.ts';
import {
  type Agent,
  agentText,
  isNamed,
  named,
  NAMED_KINDS,
  ONLY_MAX,
  readAgent,
  shownAgent,
} from '../../domain/access/agent.ts';
import { type Scope, SCOPES } from '../../domain/access/scope.ts';
import { formatToken, newSecret } from '../../domain/access/token.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { newId } from '../../lib/id.ts';
import { randomBytes } from '../../lib/random.ts';
import { insertToken, listTokens, type NewToken, revokeToken } from '../../store/access/tokens.ts';
import { findGate } from '../../store/gate/gate.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

const LOCAL_ONLY = localOnly(
  'Tokens are created and revoked on the machine only: a token that could create tokens would outlive its own ' +
    'revocation.',
);
const EXPIRY_MIN_MS = 1_000;
const EXPIRY_MAX_MS = 3_650 * 86_400_000;
const SALT_BYTES = 16;
/** A program decides nothing, and a host has its own kind of token. */
const AGENT_SCOPES = ['readonly', 'operator'] as const satisfies readonly Scope[];

const namesField = field.as('NAME', z.array(field.name).default([]));
const onlyField = field.as(
  'KIND:NAME',
  z
    .array(
      z
        .string()
        .refine(isNamed, {
          error: `expected one of ${NAMED_KINDS.join(', ')}, a colon and a name, such as rule:disk-full`,
        }),
    )
    .default([]),
);

interface GivenAgent {
  readonly scope: Scope;
  readonly agent: boolean;
  readonly only: readonly string[];
  readonly inventory: readonly string[];
  readonly workspace: readonly string[];
}

function tokenView(row: NewToken): ViewItem<'token.list'> {
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    scope: row.scope,
    created_at: rfc3339(row.created_at),
    expires_at: row.expires_at === null ? null : rfc3339(row.expires_at),
    revoked_at: row.revoked_at === null ? null : rfc3339(row.revoked_at),
    ...shownAgent(readAgent(row.agent)),
  };
}

const list = readOperation({
  id: 'token.list',
  summary: 'List tokens, without their secrets',
  scopes: ['operator'],
  ...LOCAL_ONLY,
  cli: { verb: 'token list', examples: ['svc token list'] },
  answers: ['token.list'],
  run: async ({ store }) => reply('token.list', (await listTokens(store.db)).map(tokenView)),
});

export const createToken = writeOperation({
  id: 'token.create',
  causes: { none: 'Credentials are in no event.' },
  summary: 'Create a token; it is shown only once',
  shownOnce: true,
  scopes: ['operator'],
  ...LOCAL_ONLY,
  cli: {
    verb: 'token create',
    examples: [
      'svc token create --name phone --scope approve --owner ana --expires 90d',
      'svc token create --name bot --scope operator --expires 90d --inventory staging --workspace net',
    ],
  },
  input: z.strictObject({
    name: field.unreservedName.describe('Name of the token; for a host token, the name of its host'),
    scope: field.oneOf(SCOPES).describe('Permissions of the token'),
    owner: field.unreservedName.optional().describe('Owner of the token; default its name'),
    expires: field.duration.optional().describe('Lifetime of the token, such as 24h'),
    agent: field.flag.describe('A token of a program: it cannot sign in and decides nothing'),
    only: onlyField.describe('All that it writes, such as rule:disk-full; repeatable; implies agent'),
    inventory: namesField.describe('As only inventory:NAME'),
    workspace: namesField.describe('As only workspace:NAME'),
  }),
  answers: ['token.created'],
  failures: ['duplicate', 'conflict'],
  async prepare({ services }) {
    const secret = newSecret();
    const salt = randomBytes(SALT_BYTES);
    return { secret, salt, hash: await services.hashToken(secret, salt) };
  },
  async run({ tx }, input, { secret, salt, hash }) {
    const expiresMs =
      input.expires === undefined ? null : requireDuration('expires', input.expires, EXPIRY_MIN_MS, EXPIRY_MAX_MS);
    if ((await findGate(tx)).isStrict) refuseLong(expiresMs);
    const agent = agentOf(input);
    const id = newId('tok', tx.now);
    const row: NewToken = {
      id,
      name: input.name,
      owner: input.owner ?? input.name,
      scope: input.scope,
      salt,
      hash,
      version: 1,
      created_at: tx.now,
      expires_at: expiresMs === null ? null : tx.now + expiresMs,
      revoked_at: null,
      agent: agentText(agent),
    };
    await insertToken(tx, row);
    // The id, because the name may belong to another token later.
    const { name, scope, owner } = row;
    const shown = reply('token.created', { ...tokenView(row), token: formatToken(id, secret) });
    return written(shown, id, { name, scope, owner, ...shownAgent(agent) });
  },
});

/** Throws invalid_argument for a scope that a program cannot have. */
function agentOf(input: GivenAgent): Agent | null {
  const names = [
    ...input.only,
    ...input.inventory.map((name) => named('inventory', name)),
    ...input.workspace.map((name) => named('workspace', name)),
  ];
  if (!input.agent && names.length === 0) return null;
  if (!AGENT_SCOPES.some((scope) => scope === input.scope))
    throw new Failure('invalid_argument', `scope: a token of a program has the scope ${AGENT_SCOPES.join(' or ')}.`);
  if (names.length > ONLY_MAX) throw new Failure('invalid_argument', `only: expected at most ${ONLY_MAX} names.`);
  return { only: names.length === 0 ? null : [...new Set(names)].toSorted() };
}

/** Throws conflict. */
function refuseLong(expiresMs: number | null): void {
  if (expiresMs === null || expiresMs > LONGEST_EXPIRY_MS)
    throw new Failure('conflict', 'expires: the gate is strict, so a token needs an expiry of at most 90d.');
}

const revoke = writeOperation({
  id: 'token.revoke',
  causes: { none: 'Credentials are in no event.' },
  summary: 'Revoke a token; end its sessions and open streams',
  scopes: ['operator'],
  ...LOCAL_ONLY,
  cli: {
    verb: 'token revoke',
    confirm: { by: 'yes', question: 'What uses the token {token} is refused from now on, for good. Go on? [y/N] ' },
    positionals: ['token'],
    examples: ['svc token revoke ci'],
  },
  input: z.strictObject({
    token: z.union([field.id('tok'), field.name], { error: 'expected the name or id of a token' }),
  }),
  answers: ['token.get'],
  failures: ['not_found'],
  async run({ tx }, { token }) {
    const row = await revokeToken(tx, token);
    return written(reply('token.get', tokenView(row)), row.id);
  },
});

export const TOKEN_OPERATIONS = [list, createToken, revoke];
