import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as z from 'zod';
import { OPERATORS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { createExclusive } from '../../lib/atomic-file.ts';
import { errorCode } from '../../lib/error-code.ts';
import type { Keyring } from '../../lib/seal.ts';
import { assertSameKey, noteExported } from '../../store/secrets/seal.ts';
import { localOnly, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';

const MODE = 0o600;
const PATH_CHARACTERS_MAX = 4_096;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'a part of its path is not a directory',
  EACCES: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * The audit row is committed before the key leaves: an export that failed afterwards has a row, but never is there one
 * without.
 */
export const exportSeal = writeOperation({
  id: 'seal.export',
  causes: { none: 'Set at the machine only, by an account that can write the store itself.' },
  summary: 'Write the seal key to standard output or to a new file',
  scopes: OPERATORS,
  ...localOnly('The seal key is a file of this machine and never leaves it over the network.'),
  cli: {
    verb: 'seal export',
    confirm: { by: 'yes', question: 'The key opens every secret, state, plan and backup. Write it out? [y/N] ' },
    positionals: ['file'],
    examples: ['svc seal export /mnt/usb/gatehouse.key', 'svc seal export --yes --no-input'],
  },
  shownOnce: true,
  input: z.strictObject({
    file: z
      .string()
      .min(1, { error: 'expected a path' })
      .max(PATH_CHARACTERS_MAX, { error: `expected at most ${PATH_CHARACTERS_MAX} characters` })
      .optional(),
  }),
  answers: ['seal.exported'],
  failures: ['invalid_argument', 'conflict'],
  async prepare({ store, services }, { file }): Promise<{ ring: Keyring; text: string }> {
    if (file !== undefined) await requireNew(file);
    const ring = await services.seal.keyring();
    await assertSameKey(store, ring);
    return { ring, text: await services.seal.text() };
  },
  async run({ tx }, { file }, { ring, text }) {
    await noteExported(tx, ring);
    const data = { key_id: ring.activeId, file: file ?? null, text: file === undefined ? text : null };
    return written(reply('seal.exported', data), ring.activeId, { to: file === undefined ? 'stdout' : 'file' });
  },
  async around({ services }, { file }, write) {
    await write();
    if (file !== undefined) await makeFile(file, await services.seal.text());
    return null;
  },
});

async function requireNew(file: string): Promise<void> {
  if ((await lstat(resolve(file)).catch(() => null)) !== null) throw exists(file);
}

async function makeFile(file: string, text: string): Promise<void> {
  try {
    if (!(await createExclusive(resolve(file), text, MODE))) throw exists(file);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = errorCode(error) ?? 'unknown error';
    throw new Failure('invalid_argument', `file: ${file} cannot be made: ${REASONS[code] ?? code}.`);
  }
}

function exists(file: string): Failure {
  return new Failure('conflict', `file: ${file} exists already, and an export replaces nothing; name a new file.`);
}
