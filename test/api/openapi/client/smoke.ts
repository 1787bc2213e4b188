/** What a script does with a client that was generated from the OpenAPI document: `main.ts` makes its types. */
import assert from 'node:assert/strict';
import { env } from 'node:process';
import createClient from 'openapi-fetch';
import type { components, paths } from './.cache/schema.ts';

const client = createClient<paths>({
  baseUrl: env['GATEHOUSE_URL'] ?? '',
  headers: { Authorization: `Bearer ${env['GATEHOUSE_TOKEN'] ?? ''}` },
});

/** A stream ends with its job; this is only for one that does not. */
const LIMIT_MS = 60_000;

type Event = { [Name in 'state' | 'log' | 'progress' | 'end']: components['schemas'][`job.tail.${Name}`] };

/** The data of the events of one type. */
function eventsOf<Name extends keyof Event>(stream: string, name: Name): Event[Name][] {
  const blocks = stream.split('\n\n').filter((block) => block.split('\n').includes(`event: ${name}`));
  return blocks.map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as Event[Name]);
}

async function runCommand(): Promise<string> {
  const { data, response } = await client.POST('/commands/run', {
    params: { header: { 'Idempotency-Key': 'smoke-1' } },
    body: { inventory: 'localhost', command: ['/bin/echo', 'hello'] },
  });
  assert.equal(response.status, 202);
  assert.equal(data?.kind, 'job.enqueued');
  return data.data.job_id;
}

async function followJob(id: string): Promise<void> {
  const { data: text } = await client.GET('/jobs/{id}/stream', {
    params: { path: { id } },
    parseAs: 'text',
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const [end] = eventsOf(text ?? '', 'end');
  assert.deepEqual(end, { state: 'succeeded', exit_code: 0 });
  assert.deepEqual(
    eventsOf(text ?? '', 'log')
      .filter(({ stream }) => stream === 'stdout')
      .map((each) => each.text),
    ['hello'],
  );
}

async function refuseWhatIsUnknown(): Promise<void> {
  const { data, error, response } = await client.GET('/jobs/{id}', {
    params: { path: { id: 'job_01m7yd4zyke00anp2z332d2j5p' } },
  });
  assert.equal(data, undefined);
  assert.equal(response.status, 404);
  assert.equal(error?.error.code, 'not_found');
  assert.equal(error.error.stale?.plan_serial, undefined);
}

async function addAndRemove(): Promise<void> {
  const body = { name: 'office', prefixes: '192.0.2.0/24' };
  const added = await client.POST('/netgroups', { body });
  assert.equal(added.data?.data.name, 'office');
  const removed = await client.DELETE('/netgroups/{name}', { params: { path: { name: 'office' } } });
  assert.equal(removed.response.status, 204);
  assert.equal(removed.error, undefined);
}

const id = await runCommand();
await followJob(id);
const listed = await client.GET('/jobs', { params: { query: { state: 'succeeded', limit: 5 } } });
assert.deepEqual(
  listed.data?.data.map((job) => job.id),
  [id],
);
await refuseWhatIsUnknown();
await addAndRemove();
