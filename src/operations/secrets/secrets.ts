import * as z from 'zod';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { SECRET_BYTES_MAX } from '../../domain/secrets/secret.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { Keyring } from '../../lib/seal.ts';
import { assertSameKey } from '../../store/secrets/seal.ts';
import {
  listSecrets,
  removeSecret,
  type SecretFacts,
  type SecretName,
  setSecret,
} from '../../store/secrets/secrets.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import { isSecretRef } from './run-secrets.ts';
import type { ViewItem } from '../../views/views.ts';

const LOCAL_ONLY = localOnly(
  'Secrets are set and removed on the machine only, so that a stolen token cannot replace a value.',
);

function secretView(row: SecretFacts): ViewItem<'secret.list'> {
  return { ...row, created_at: rfc3339(row.created_at), updated_at: rfc3339(row.updated_at) };
}

const secretField = z
  .string()
  .refine(isSecretRef, {
    error: 'expected PROJECT/NAME, each 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit',
  });

function nameOf(secret: string): SecretName {
  const [project = '', name = ''] = secret.split('/');
  return { project, name };
}

const list = readOperation({
  id: 'secret.list',
  summary: 'List secrets, without their values',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/secrets' },
  cli: { verb: 'secret list', examples: ['svc secret list'] },
  mcp: { tool: 'secret_list' },
  answers: ['secret.list'],
  run: async ({ store }) => reply('secret.list', (await listSecrets(store.db)).map(secretView)),
});

const set = writeOperation({
  id: 'secret.set',
  causes: { none: 'Set at the machine only, by an account that can write the store itself.' },
  summary: 'Store a secret value, read from standard input or a file',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'secret set',
    stdin: {
      field: 'value',
      what: 'the value',
      cure: '; encode it first, for example with base64',
      question: 'Value of {secret}, one line, not shown: ',
    },
    positionals: ['secret'],
    // It is never on the command line, where every process of the machine could read it.
    omit: ['value'],
    examples: ['svc secret set net/token < token.txt', 'svc secret set net/deploy-key --file deploy.key'],
  },
  input: z.strictObject({
    secret: secretField,
    value: z
      .string({ error: 'expected text' })
      .min(1, { error: 'expected a value; found none' })
      .refine((text) => Buffer.byteLength(text) <= SECRET_BYTES_MAX, {
        error: `expected at most ${SECRET_BYTES_MAX} bytes`,
      }),
  }),
  answers: ['secret.get'],
  failures: ['invalid_argument'],
  async prepare({ store, services }): Promise<{ ring: Keyring }> {
    const ring = await services.keyring();
    await assertSameKey(store, ring);
    return { ring };
  },
  async run({ tx }, { secret, value }, { ring }) {
    const row = await setSecret(tx, ring, nameOf(secret), Buffer.from(value));
    return written(reply('secret.get', secretView(row)), secret, { version: row.version });
  },
});

const remove = writeOperation({
  id: 'secret.remove',
  causes: { none: 'Set at the machine only, by an account that can write the store itself.' },
  summary: 'Remove a secret and its value',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'secret remove',
    removes: true,
    confirm: { by: 'yes', question: 'The value of {secret} is lost with it. Go on? [y/N] ' },
    positionals: ['secret'],
    examples: ['svc secret remove net/token'],
  },
  input: z.strictObject({ secret: secretField }),
  answers: ['secret.get'],
  failures: ['not_found', 'conflict'],
  run: async ({ tx }, { secret }) =>
    written(reply('secret.get', secretView(await removeSecret(tx, nameOf(secret)))), secret),
});

export const SECRET_OPERATIONS = [list, set, remove];
