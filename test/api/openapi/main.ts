/**
 * `npm run client`: the OpenAPI document of a real daemon is valid for a public validator, and a client that a public
 * generator makes of it compiles and works. They are installed from their own lock file (41 packages), so that only
 * those who run this have them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../../../scripts/arguments.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const HERE = import.meta.dirname;
const CLIENT = join(HERE, 'client');

/** Throws if the program fails. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  const { status, error } = spawnSync(program, args, { cwd: HERE, env, stdio: 'inherit' });
  if (status !== 0) throw error ?? new Error(`${program} ${args[0] ?? ''} ended with ${status ?? 'a signal'}`);
}

function installed(name: string): string {
  return join(HERE, 'node_modules', '.bin', name);
}

async function checkClient(after: (step: () => Promise<void>) => void): Promise<void> {
  run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--loglevel=error']);
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-openapi-'));
  after(() => Promise.resolve(rmSync(dir, { recursive: true })));
  const fixture = await openFixture({ after });
  const daemon = await fixture.start();
  const answer = await fetch(`${daemon.ready.web_url}/api/v1/openapi.json`, {
    headers: { Authorization: `Bearer ${fixture.token}` },
  });
  const document = join(dir, 'openapi.json');
  writeFileSync(document, await answer.text());
  run(installed('validate-api'), [document]);
  run(installed('openapi-typescript'), [document, '--output', join(CLIENT, '.cache', 'schema.ts')]);
  run(installed('tsc'), ['--noEmit', '--project', CLIENT]);
  const env = { ...process.env, GATEHOUSE_URL: `${daemon.ready.web_url}/api/v1`, GATEHOUSE_TOKEN: fixture.token };
  run(process.execPath, ['--disable-warning=ExperimentalWarning', join(CLIENT, 'smoke.ts')], env);
}

readArguments('npm run client', {});
const steps: (() => Promise<void>)[] = [];
try {
  await checkClient((step) => void steps.unshift(step));
  console.log('ok: the document is valid, and the generated client compiles and works');
} finally {
  for (const step of steps) await step();
}
