import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as z from 'zod';
import { OPERATORS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { parseState, STATE_MAX_BYTES } from '../../domain/workspaces/state.ts';
import { type State, workspaceKey } from '../../domain/workspaces/workspace.ts';
import { errorCode } from '../../lib/error-code.ts';
import { openSealed, stateLabel } from '../../store/secrets/seal.ts';
import { findState, keepState, newestState } from '../../store/workspaces/states.ts';
import { getWorkspace, moveWorkspace } from '../../store/workspaces/workspaces.ts';
import * as field from '../core/fields.ts';
import { type Context, writeOperation } from '../core/operation.ts';
import { written } from '../core/reply.ts';
import { LOCAL_ONLY, refuseOpenJob, replyGet } from './workspace-view.ts';

/** A way back from a state that a run spoiled, and into the service for a state from elsewhere. */
const restore = writeOperation({
  id: 'workspace.restore',
  causes: { of: 'workspace' },
  summary: 'Restore a state as the newest version, with a higher serial',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'workspace restore',
    confirm: {
      by: 'name',
      warning: 'The next run of {name} starts from the restored state. What was made since then is not in it.',
    },
    positionals: ['name'],
    examples: ['svc workspace restore net --version 3', 'svc workspace restore net --file net.tfstate'],
  },
  input: z.strictObject({
    name: field.name,
    version: z
      .int({ error: 'expected a version as svc workspace state lists them' })
      .optional()
      .describe('State version to restore, see svc workspace state'),
    file: field.as('PATH', z.string().min(1).max(4_096)).optional().describe('File with a state of this workspace'),
    force: field.flag.describe('Restore a state of another lineage too'),
  }),
  answers: ['workspace.get'],
  failures: ['not_found', 'conflict'],
  async prepare(context, { name, version, file }) {
    await getWorkspace(context.store.db, name);
    if ((version === undefined) === (file === undefined))
      throw new Failure('invalid_argument', 'version, file: expected exactly one of the two.');
    const state = await (version === undefined ? ofFile(file ?? '') : ofVersion(context, name, version));
    return { state, ring: await context.services.keyring() };
  },
  async run({ tx }, { name, version = null, force }, { state, ring }) {
    await tx.dialect.lockKey(tx.db, workspaceKey(name));
    const workspace = await getWorkspace(tx.db, name);
    await refuseOpenJob(tx.db, name);
    if (workspace.own_backend === 1)
      throw new Failure('conflict', `The root of ${name} has its own backend: restore its state there.`);
    const newest = await newestState(tx.db, name);
    if (newest !== undefined && newest.lineage !== state.lineage && !force)
      throw new Failure(
        'conflict',
        `The state has another lineage than the newest one of ${name}, so it is the state of other resources. ` +
          'Restore it with --force if you are sure.',
      );
    const { lineage, resources } = state;
    const serial = Math.max(newest?.serial ?? 0, state.serial, workspace.serial ?? 0) + 1;
    const bytes = withSerial(state, serial);
    if (bytes.length > STATE_MAX_BYTES) throw tooLong('the state as it is stored');
    const restored = await keepState(tx, {
      workspace: name,
      serial,
      lineage,
      resources,
      jobId: null,
      keyId: ring.activeId,
      seal: (at) => ring.seal(stateLabel({ workspace: name, version: at, serial, lineage }), bytes),
    });
    await moveWorkspace(tx, name, { serial, lineage, byJob: null, via: null });
    const row = await getWorkspace(tx.db, name);
    return written(await replyGet(tx.db, row), name, { version: restored, from_version: version, serial, force });
  },
});

async function ofVersion({ store, services }: Context, name: string, version: number): Promise<State> {
  const row = await findState(store.db, name, version);
  if (row === undefined) throw field.notFound(`version ${version} of the state of ${name}`);
  const what = `version ${version} of the state of ${name} cannot be opened`;
  const bytes = openSealed(await services.keyring(), stateLabel(row), row.sealed, what);
  return checked(Buffer.from(bytes), `version ${version}`);
}

async function ofFile(path: string): Promise<State> {
  try {
    await using handle = await open(resolve(path), 'r');
    const stats = await handle.stat();
    // A device or a pipe has no size, and may have no end.
    if (!stats.isFile()) throw new Failure('invalid_argument', `file: ${path} is not a regular file.`);
    if (stats.size > STATE_MAX_BYTES) throw tooLong(path);
    return checked(await handle.readFile(), path);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = errorCode(error);
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown error'})`;
    throw new Failure('invalid_argument', `file: ${path} ${why}.`);
  }
}

/** No run could read it. */
function tooLong(what: string): Failure {
  return new Failure('invalid_argument', `file: ${what} has more than ${STATE_MAX_BYTES} bytes.`);
}

function checked(bytes: Buffer, what: string): State {
  const state = parseState(bytes);
  if (state === null || state.lineage === '')
    throw new Failure('invalid_argument', `file: ${what} is not a state of terraform or tofu.`);
  return state;
}

/** The same state with another serial: terraform refuses to go on from a lower one. */
function withSerial({ bytes }: State, serial: number): Buffer {
  const json = JSON.parse(bytes.toString('utf8')) as Readonly<Record<string, unknown>>;
  return Buffer.from(`${JSON.stringify({ ...json, serial }, null, 2)}\n`);
}

export const WORKSPACE_RESTORE_OPERATIONS = [restore];
