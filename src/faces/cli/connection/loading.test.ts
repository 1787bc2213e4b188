/** What a remote call loads: it knows neither the store nor the table, so it starts fast. */
import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { sendJson, standIn } from '../../../../test/support/stand-in-server.ts';

/** Drivers of databases and their users, and the libraries that cost most of a start. */
const HEAVY = [
  /^node:sqlite$/,
  /\/node_modules\/(pg|kysely|zod)\//,
  /\/src\/(store|app|daemon)\b/,
  /operations\/table\.ts$/,
];

test('a remote call loads no driver of a database, no store and no table of operations', async (t) => {
  const loaded: string[] = [];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      loaded.push(found.url);
      return found;
    },
  });
  t.after(() => hooks.deregister());
  const { svc } = await import('../../../../test/support/terminal.ts');
  const server = await standIn(t, (_, response) =>
    sendJson(response, 200, '{"schema_version":1,"kind":"job.list","data":[]}\n'),
  );
  for (const words of ['job list', 'job list --output json', 'complete -- job get x', 'whoami --output json']) {
    const ran = await svc(words.split(' '), { env: { SVC_REMOTE: server.url, SVC_TOKEN: 'svc_test' } });
    assert.equal(ran.exitCode, 0, words + ran.stderr);
  }
  assert.ok(
    loaded.some((url) => url.endsWith('/connection/remote.ts')),
    'the hook sees what is loaded',
  );
  assert.deepEqual(
    loaded.filter((url) => HEAVY.some((pattern) => pattern.test(url))),
    [],
  );
});
