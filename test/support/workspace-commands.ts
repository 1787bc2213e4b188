/** Workspaces as the command line asks for them, and directories for them. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSourceFetcher } from '../../src/app/sources.ts';
import { insertSource } from '../../src/store/sources.ts';
import type { Projected } from '../../src/operations/views.ts';
import { type Ending, type Program, startProgram } from './program.ts';
import { callLocally } from './workspace-maker.ts';

type Workspace = Projected<'workspace.get'>;

export const call = (program: Program, verb: string, raw: object): Promise<Workspace> =>
  callLocally<Workspace>(program, `workspace.${verb}`, raw);

/** A directory beside the store. */
export function directory(program: Program, name: string): string {
  const path = join(dirname(program.storeFile ?? ''), name);
  mkdirSync(path, { recursive: true });
  return path;
}

export async function addSource(program: Program): Promise<void> {
  const row = {
    name: 'infra',
    kind: 'dir',
    location: '/srv/infra',
    ref: null,
    commit_id: null,
    synced_at: null,
    created_at: 1,
  } as const;
  await program.store.write((tx) => insertSource(tx, row));
}

/** A program that looks at directories as the real one does; its data directory is `data` beside the store. */
export async function start(t: Ending): Promise<Program> {
  const program = await startProgram(t);
  Object.assign(program.services, {
    sources: createSourceFetcher(join(directory(program, 'data'), 'sources'), () =>
      assert.fail('no git source is fetched here'),
    ),
  });
  return program;
}
