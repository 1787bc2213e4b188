import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { daemonOf, demoOf, makePlace, ROOT, runDemo } from '../../support/demo/run.ts';
import { needs } from '../../support/tools.ts';

test('point 40: The demo shows the sign-in page; interrupted, it ends its daemon and takes its directory away', async (t) => {
  const place = makePlace(t);
  let web = '';
  let page = Promise.resolve('');
  const run = await runDemo(t, place, demoOf(), {
    onLine(line, interrupt) {
      const url = /ready on (http:\S+)/.exec(line)?.[1];
      if (url !== undefined) {
        web = url;
        page = signInPage(url);
      }
      // In the middle of a job, and to the whole group, as a terminal does.
      if (line.includes('step 1 of 3')) interrupt();
    },
  });
  assert.match(await page, /<form method="post" action="\/login"[^]*name="token"/);
  assert.deepEqual([run.code, run.errors], [130, '']);
  assert.deepEqual(readdirSync(place.temporary), []);
  await assert.rejects(fetch(`${web}/api/v1/whoami`), TypeError, 'the port is closed');
});

for (const [what, end, says] of [
  ['whose reader has gone', '"$@" | head -n 2', /ready on/],
  ['whose output fits no disk', 'exec "$@" > /dev/full', /^$/],
] as const)
  test(`The demo ${what} ends its daemon and takes its directory away`, { skip: needs('dash') }, async (t) => {
    const place = makePlace(t);
    const run = await runDemo(t, place, ['dash', '-c', end, 'demo', ...demoOf()]);
    assert.match(run.output, says);
    assert.equal(run.errors, '');
    assert.deepEqual(readdirSync(place.temporary), []);
  });

for (const signal of ['SIGTERM', 'SIGHUP'] as const)
  test(`The demo ends its daemon and takes its directory away where npm alone gets ${signal}`, async (t) => {
    const place = makePlace(t);
    const run = await runDemo(t, place, ['npm', '--prefix', ROOT, 'run', 'demo'], {
      onLine(line, _interrupt, npm) {
        if (line.includes('step 1 of 3')) npm.kill(signal);
      },
    });
    assert.match(run.output, /\nInterrupted: the daemon has ended, and its directory is gone\.\n/);
    assert.deepEqual(readdirSync(place.temporary), []);
  });

test('The daemon of a demo that is killed ends, and takes its directory away', async (t) => {
  const place = makePlace(t);
  let daemon = 0;
  const run = await runDemo(t, place, demoOf(), {
    onLine(line, _interrupt, demo) {
      if (!line.includes('step 1 of 3')) return;
      daemon = daemonOf(place);
      demo.kill('SIGKILL');
    },
  });
  assert.equal(run.code, null, run.output);
  await until('its directories are gone', () => readdirSync(place.temporary).length === 0);
  await until('the daemon has ended', () => !existsSync(`/proc/${daemon}`));
});

async function signInPage(url: string): Promise<string> {
  const answer = await fetch(url);
  assert.equal(answer.status, 401);
  return answer.text();
}
