/** What `npm pack` makes: unpacked elsewhere, it runs without the checkout. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { BUNDLE, bundle } from '../../../scripts/bundle.ts';
import { WHOLE_SCHEMA, wholeSchema } from '../../../src/store/engine/sqlite/whole-schema.ts';
import { knownMigrations } from '../../../src/store/store.ts';
import { VERSION } from '../../../src/version.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NODE_FIRST = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;

test('an unpacked package runs a job, and holds the program as a bundle only', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-package-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  // What the script before packing does; it would empty the folder that other tests use at this moment.
  await bundle(BUNDLE);
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', dir];
  execFileSync('npm', pack, { cwd: ROOT, stdio: 'pipe' });
  const [tarball] = readdirSync(dir);
  execFileSync('tar', ['-xzf', join(dir, tarball ?? assert.fail('nothing was packed')), '-C', dir]);
  const home = join(dir, 'package');
  const top = ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'docs', 'migrations', 'package.json'];
  assert.deepEqual(readdirSync(home).toSorted(), top);
  assert.ok(existsSync(join(home, 'dist', 'runners', 'ansible', 'gatehouse_report.py')));
  assert.equal(readFileSync(join(home, 'dist', WHOLE_SCHEMA), 'utf8'), wholeSchema(knownMigrations('sqlite')));
  assert.match(readFileSync(join(home, 'dist', 'THIRD-PARTY-LICENSES'), 'utf8'), /^kysely \d/m);

  const env = { PATH: NODE_FIRST, HOME: dir };
  const version = execFileSync(join(home, 'bin', 'svc'), ['version'], { encoding: 'utf8', env });
  assert.ok(version.includes(VERSION), version);

  const fixture = await openFixture(t);
  const daemon = await fixture.start({ program: join(home, 'dist', 'main.js') });
  // An upgrade may replace the files of a server that runs: it needs no chunk any more.
  for (const chunk of globSync(join(home, 'dist', 'chunk-*'))) rmSync(chunk);
  const headers = { authorization: `Bearer ${fixture.token}` };
  const page = await fetch(`${daemon.ready.web_url}/docs/how-to/checks/status-page.md`, { headers });
  assert.match(await page.text(), /<h2 id="what-it-shows">/, 'it has its documents, and what reads them');
  // The SDK of the agent endpoint is loaded with its first request.
  const response = await fetch(`${daemon.ready.web_url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"health_get"}}',
  });
  assert.match(await response.text(), /"structuredContent":\{"schema_version":1,"kind":"doctor"/);
  // The guard, the launch and the reading of output are the package's too.
  const job = await fixture.queue({ command: ['echo', 'from the package'] });
  await fixture.waitFor(job, ['succeeded']);
  const logs = (await fixture.events(job)).filter((event) => event.type === 'log');
  assert.deepEqual(
    logs.filter(({ stream }) => stream === 'stdout').map(({ text }) => text),
    ['from the package'],
  );
});
