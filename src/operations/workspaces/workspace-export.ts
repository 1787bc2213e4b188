import { resolve } from 'node:path';
import * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { OPERATORS } from '../../domain/access/scope.ts';
import { createExclusive } from '../../lib/atomic-file.ts';
import { errorCode } from '../../lib/error-code.ts';
import type { StateRow } from '../../store/schema/schema.ts';
import { openSealed, stateLabel } from '../../store/secrets/seal.ts';
import { findState, newestState } from '../../store/workspaces/states.ts';
import { getWorkspace } from '../../store/workspaces/workspaces.ts';
import * as field from '../core/fields.ts';
import { type Context, writeOperation } from '../core/operation.ts';
import { actorOf, reply, written } from '../core/reply.ts';

const FILE_MODE = 0o600;

/** A state in clear, for a person who has to bring it somewhere: it never leaves by any other way. */
const exportState = writeOperation({
  id: 'workspace.export',
  causes: { none: 'It copies a state and changes none.' },
  summary: 'Write one version of the state, unencrypted, to a new file',
  scopes: OPERATORS,
  http: { none: 'A state holds secrets in clear: it is written at the machine, for who works there.' },
  cli: {
    verb: 'workspace export',
    positionals: ['name'],
    examples: ['svc workspace export net --to net.tfstate', 'svc workspace export net --version -1 --to left.tfstate'],
  },
  mcp: { none: 'A state holds secrets in clear.' },
  input: z.strictObject({
    name: field.name,
    version: z
      .int({ error: 'expected a version as svc workspace state lists them' })
      .optional()
      .describe('State version, see svc workspace state; default the newest'),
    to: z
      .string()
      .min(1, { error: 'expected a file name' })
      .max(4_096)
      .describe('New file to write, with mode 0600; must not exist yet'),
  }),
  answers: ['workspace.exported'],
  failures: ['not_found', 'conflict', 'duplicate'],
  async prepare(context, { name, version, to }): Promise<StateRow> {
    await getWorkspace(context.store.db, name);
    const row = await (version === undefined
      ? newestState(context.store.db, name)
      : findState(context.store.db, name, version));
    if (row === undefined)
      throw field.notFound(
        version === undefined ? `state of ${name} yet` : `version ${version} of the state of ${name}`,
      );
    const bytes = await opened(context, row);
    // On the ledger before it lies anywhere in clear.
    const entry = {
      ...actorOf(context.caller),
      operation: 'workspace.export',
      target: name,
      detail: { version: row.version, begins: true },
    };
    await context.store.write((tx) => Promise.resolve(tx.record(entry)));
    await writeNew(resolve(to), bytes);
    return row;
  },
  run(_context, { name, to, version: asked = null }, { version, serial }) {
    const exported = reply('workspace.exported', { name, version, serial, file: resolve(to) });
    return Promise.resolve(written(exported, name, { version: asked }));
  },
});

async function opened({ services }: Context, row: StateRow): Promise<Uint8Array> {
  const what = `version ${row.version} of the state of ${row.workspace} cannot be opened`;
  return openSealed(await services.keyring(), stateLabel(row), row.sealed, what);
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  let made: boolean;
  try {
    made = await createExclusive(path, bytes, FILE_MODE);
  } catch (error) {
    throw new Failure('invalid_argument', `to: ${path} cannot be written (${errorCode(error) ?? 'unknown error'}).`);
  }
  if (!made) throw new Failure('duplicate', `to: ${path} already exists; it was not changed.`);
}

export const WORKSPACE_EXPORT_OPERATIONS = [exportState];
