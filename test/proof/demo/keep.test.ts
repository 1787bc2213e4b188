import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it, test, type TestContext } from 'node:test';
import { until } from '../../support/api-client.ts';
import { ENVIRONMENTS } from '../../support/demo/environments.ts';
import { makePlace, runDemo } from '../../support/demo/run.ts';
import { needs, TERRAFORM } from '../../support/tools.ts';

/** This machine, and those that differ most from it. */
const NAMES = [
  'on this machine',
  'without Landlock as an ordinary account, with privileged jobs',
  'in a clone and with tools that other accounts cannot reach',
];

type Environment = (typeof ENVIRONMENTS)[number];

/** Runs the demo with --keep in this environment, and ends the daemon that it leaves. Answers what it showed. */
async function keeps(t: TestContext, { words, env }: Environment): Promise<string> {
  const place = makePlace(t);
  const run = await runDemo(t, place, [...words(place, t), '--', '--keep'], { env: env?.(place) ?? {} });
  assert.equal(run.code, 0, run.output);
  const pid = Number(/: kill (\d+)/.exec(run.output)?.[1]);
  let isEnded = false;
  t.after(() => isEnded || process.kill(pid, 'SIGKILL'));
  const url = /export SVC_REMOTE=(\S+)/.exec(run.output)?.[1] ?? assert.fail(run.output);
  const token = /export SVC_TOKEN=(\S+)/.exec(run.output)?.[1];
  const answer = await fetch(`${url}/api/v1/jobs`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  process.kill(pid, 'SIGTERM');
  await until('its directories are gone', () => readdirSync(place.temporary).length === 0);
  isEnded = true;
  return run.output;
}

const [HERE, ...OTHERS] = ENVIRONMENTS.filter((each) => NAMES.includes(each.name));

test(
  'The demo with --keep applies an approved plan and leaves a daemon that removes its directory at its end',
  { skip: needs(TERRAFORM) },
  async (t) => {
    const shown = await keeps(t, HERE ?? assert.fail());
    assert.match(shown, /Planned: 0 to destroy, 1 to replace[^]*is awaiting_approval[^]*Approved at[^]*1 destroyed/);
  },
);

for (const environment of OTHERS) {
  const { name, skip, words, env } = environment;
  describe(`The demo ${name}`, () => {
    it('leaves with --keep a daemon that removes its directories at its end', { skip }, async (t) => {
      assert.match(await keeps(t, environment), /Still running: http/);
    });

    it('shows with --keep --story the console, and leaves nothing behind', { skip }, async (t) => {
      const place = makePlace(t);
      let status = 0;
      const run = await runDemo(t, place, [...words(place, t), '--', '--keep', '--story'], {
        env: env?.(place) ?? {},
        async onLine(line, interrupt) {
          const url = /without a daemon: (http:\S+)/.exec(line)?.[1];
          if (url === undefined) return;
          status = (await fetch(url)).status;
          interrupt();
        },
      });
      assert.equal(status, 401, run.output);
      assert.equal(run.code, 0, run.output);
      assert.deepEqual(readdirSync(place.temporary), []);
    });
  });
}
