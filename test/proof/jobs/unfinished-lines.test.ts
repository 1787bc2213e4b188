/** A job that prints a line without its end, such as a question: all who follow it see that, in every process. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { StreamEvent } from '../../../src/operations/core/reply.ts';
import { followJob } from '../../../src/operations/jobs/job-events.ts';
import { type Api, until } from '../../support/api-client.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

/** Asks, and waits for a file that is never there; it has no terminal and no standard input. */
const ASKING = ['/bin/sh', '-c', 'echo begins; printf "\\r10 %%\\r20 %%\\rOverwrite it? [y/N] "; sleep 600'];
const QUESTION = 'Overwrite it? [y/N] ';

async function firstPartial(events: AsyncIterable<StreamEvent>): Promise<unknown> {
  for await (const { event, id, data } of events) {
    if (event !== 'partial') continue;
    assert.equal(id, undefined);
    return data;
  }
  return undefined;
}

async function partialInStream(t: TestContext, api: Api, id: string): Promise<string> {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const headers = { authorization: `Bearer ${api.token}` };
  const answer = await fetch(`${api.baseUrl}/jobs/${id}/stream`, { headers, signal: stop.signal });
  let text = '';
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    const found = /^event: partial\ndata: .*\n\n/m.exec(text);
    if (found !== null) return found[0];
  }
  return text;
}

async function rows({ store }: Fixture): Promise<readonly string[]> {
  return (await store.db.selectFrom('job_partials').select('job_id').execute()).map(({ job_id }) => job_id);
}

for (const postgres of [false, true]) {
  describe(`An unfinished line on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test(
      'is shown by the daemon that runs the job, by another one and by the command line, and ends with the job',
      { skip: needs('Landlock ABI 4') },
      async (t) => {
        const fixture = await openFixture(t, { postgres });
        const daemon = await fixture.start();
        const api = daemon.api(fixture.token);
        const id = await api.run(ASKING);
        const sent = { type: 'partial', stream: 'stdout', text: QUESTION };
        assert.equal(await partialInStream(t, api, id), `event: partial\ndata: ${JSON.stringify(sent)}\n\n`);

        // The process of the test is another one than the daemon.
        const signal = AbortSignal.any([]);
        assert.deepEqual(await firstPartial(followJob(fixture.store.db, fixture.services, id, 0, signal)), sent);
        if (postgres) {
          const other = await fixture.start({ dataDir: `${fixture.dir}/other` });
          assert.match(await partialInStream(t, other.api(fixture.token), id), /^event: partial\ndata: .*Overwrite it/);
        }

        const texts = (await fixture.events(id)).flatMap((event) => (event.type === 'log' ? [event.text] : []));
        assert.deepEqual(texts, ['begins'], 'the list of events has whole lines');
        assert.deepEqual(await rows(fixture), [id]);
        await fixture.call('job.cancel', { id });
        await fixture.waitFor(id, ['cancelled']);
        assert.deepEqual(await rows(fixture), []);
        const last = (await fixture.events(id)).findLast((event) => event.type === 'log' && event.stream === 'stdout');
        assert.deepEqual(
          last?.type === 'log' && last.text,
          `\r10 %\r20 %\r${QUESTION}`,
          'all of it is kept as it came',
        );
      },
    );

    test('of a job whose daemon died is removed with its end', { skip: needs('Landlock ABI 4') }, async (t) => {
      const fixture = await openFixture(t, { postgres });
      const daemon = await fixture.start();
      const id = await daemon.api(fixture.token).run(ASKING);
      await until('the question is stored', async () => ((await rows(fixture)).length > 0 ? true : undefined));
      await daemon.kill();
      await fixture.start();
      await fixture.waitFor(id, ['interrupted']);
      assert.deepEqual(await rows(fixture), []);
    });
  });
}
