import { open } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { readInputs, type VarFile, type WorkspaceInputs } from '../../domain/workspaces/inputs.ts';
import { errorCode } from '../../lib/error-code.ts';
import { toJson } from '../../lib/json.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { WorkspaceRow } from '../../store/schema/schema.ts';
import { requireSecrets } from '../../store/secrets/secrets.ts';
import * as field from '../core/fields.ts';
import { runSecretsField } from '../secrets/run-secrets.ts';

const VARS_MAX = 64;
const VALUE_CHARS_MAX = 8_192;
const FILES_MAX = 8;
const FILE_BYTES_MAX = 65_536;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\.tfvars(?:\.json)?$/;

const vars = z
  .record(z.string(), z.string().max(VALUE_CHARS_MAX, { error: `expected at most ${VALUE_CHARS_MAX} characters` }))
  .superRefine((given, context) => {
    const names = Object.keys(given);
    const refuse = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
    if (names.length > VARS_MAX) refuse([], `expected at most ${VARS_MAX} variables`);
    for (const name of names)
      if (!VARIABLE.test(name)) refuse([name.slice(0, 80)], 'expected a name of letters, digits, _ and -');
  });

/** What each run of the workspace gets. A given list replaces the stored one. */
export const INPUTS = {
  vars: vars.optional().describe('Variable of every run; for a secret use run_secrets'),
  var_files: field
    .as('PATH', z.array(z.string().min(1).max(4_096)))
    .max(FILES_MAX)
    .optional()
    .describe('File of variables of every run (.tfvars, .tfvars.json); its text is stored'),
  run_secrets: runSecretsField.unwrap().optional().describe('Secret of every run: variable to project/secret'),
};

interface GivenInputs {
  readonly vars?: Readonly<Record<string, string>> | undefined;
  readonly var_files?: readonly string[] | undefined;
  readonly run_secrets?: Readonly<Record<string, string>> | undefined;
}

/** What was given, with the texts of the files. Throws invalid_argument for a file that cannot be read or used. */
export async function givenInputs(given: GivenInputs): Promise<Partial<WorkspaceInputs>> {
  const files = given.var_files === undefined ? undefined : await Promise.all(given.var_files.map(readVarFile));
  if (files !== undefined && new Set(files.map(({ name }) => name)).size < files.length)
    throw new Failure('invalid_argument', 'var_files: two files have the same name.');
  return {
    ...(given.vars === undefined ? {} : { vars: given.vars }),
    ...(files === undefined ? {} : { varFiles: files }),
    ...(given.run_secrets === undefined ? {} : { runSecrets: given.run_secrets }),
  };
}

/** The column of a workspace with the given inputs in place. Throws not_found for an unknown secret. */
export async function inputsColumn(
  tx: Tx,
  stored: WorkspaceRow['inputs'],
  given: Partial<WorkspaceInputs>,
): Promise<WorkspaceRow['inputs']> {
  if (given.runSecrets !== undefined) await requireSecrets(tx.db, given.runSecrets);
  return toJson({ ...readInputs(stored), ...given });
}

async function readVarFile(path: string): Promise<VarFile> {
  const name = basename(path);
  const refuse = (what: string): never => {
    throw new Failure('invalid_argument', `var_files: ${path}: ${what}.`);
  };
  if (!FILE_NAME.test(name)) refuse('expected a name that ends in .tfvars or .tfvars.json');
  const bytes = await readUpTo(resolve(path), FILE_BYTES_MAX + 1).catch((error: unknown) =>
    refuse(
      errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${errorCode(error) ?? 'unknown error'})`,
    ),
  );
  if (bytes.length > FILE_BYTES_MAX) refuse(`has more than ${FILE_BYTES_MAX} bytes`);
  return { name, text: bytes.toString('utf8') };
}

async function readUpTo(path: string, bytesMax: number): Promise<Buffer> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax), 0, bytesMax, 0);
  return buffer.subarray(0, bytesRead);
}
