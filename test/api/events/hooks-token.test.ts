/** T58: What a person learns by guessing URLs of webhooks, and where the token of a URL is written. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openHookFixture, tell } from '../../support/fixtures/hooks.ts';
import { exchange, request, split } from '../../support/raw-http.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { noteWork } from '../../support/statements.ts';

const BODY = '{"name":"DiskFull","status":"firing"}';

/** Sends a hundred messages, good and bad, every tenth to the webhook with signed messages. Returns the answers. */
async function sendMessages(
  urlOf: (name: string) => string,
  sign: (body: string) => Record<string, string>,
): Promise<{ answers: string[]; signedTaken: number }> {
  const answers: string[] = [];
  let signedTaken = 0;
  for (let n = 0; n < 100; n += 1) {
    const name = n % 10 === 0 ? 'signed' : 'plain';
    const url = urlOf(name);
    const body = [`{"name":"DiskFull","status":"firing","n":${n}}`, '{', `{"name":"m${n}"}`, 'x'.repeat(1_100_000)][
      n % 4
    ]!;
    // Every third message to the webhook `signed` has no signature and is refused.
    const headers = name === 'signed' && n % 30 !== 20 ? sign(body) : {};
    const result = await tell(
      n % 5 === 1 ? `${url}?name=q${n}` : url,
      n % 5 === 1 ? undefined : body,
      n % 5 === 1 ? { method: 'GET' } : { headers },
    );
    if (name === 'signed' && result.status === 202) signedTaken += 1;
    answers.push(`${result.status} ${result.text} ${JSON.stringify([...result.headers])}`);
  }
  return { answers, signedTaken };
}

test('T58: A wrong token of any form is 404 with one body, after the look-up and hash of a right one', async (t) => {
  // A refused message is not read, and its connection closed a little later.
  const fixture = await openHookFixture(t, { limits: { lingerMs: 20 } });
  const token = (await fixture.hook('generic')).split('/').at(-1)!;
  const wrong = [
    ...[1, 2, 42, 43, 44, 100, 1_000, 8_000].map((length) => 'A'.repeat(length)),
    token.slice(1),
    token.slice(0, -1),
    `${token}A`,
    `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`,
    `${token.slice(0, -1)}~`,
    token.toUpperCase(),
    '%00',
    '%2e%2e',
    '..;',
    '*',
    "'or'1'='1",
    '%F0%9F%92%A9',
    '%',
    '-',
    '_',
  ];
  const work = noteWork(t);
  const ask = async (path: string) => {
    work.statements.length = 0;
    work.hashed.length = 0;
    const { status, body } = split(
      await exchange(
        fixture.port,
        request(
          'POST',
          `/hook/${path}`,
          { 'Content-Type': 'application/json', 'Content-Length': String(BODY.length) },
          BODY,
        ),
      ),
    );
    return {
      status,
      body,
      lookUps: work.statements.filter((sql) => sql.includes('"webhooks"') && sql.startsWith('select')),
      hashes: work.hashed.filter((length) => length === path.length).length,
    };
  };
  const right = await ask(token);
  assert.deepEqual([right.status, right.lookUps.length, right.hashes], [202, 1, 1]);
  const first = await ask(wrong[0]!);
  for (const path of wrong.slice(1)) {
    const { status, body, lookUps, hashes } = await ask(path);
    assert.deepEqual([status, body], [404, first.body], path.slice(0, 60));
    assert.deepEqual([lookUps, hashes], [right.lookUps, 1], path.slice(0, 60));
    assert.deepEqual(
      work.statements.filter((sql) => !sql.startsWith('pragma')),
      lookUps,
      path.slice(0, 60),
    );
  }
  assert.equal((await fixture.events()).length, 1);
});

test('T58: After 100 messages the token is in no file of the data directory, log, answer, row or view', async (t) => {
  const fixture = await openFixture(t);
  const daemon = await fixture.start();
  const made = new Map<string, string>();
  for (const signed of [false, true]) {
    const name = signed ? 'signed' : 'plain';
    const { url, signing_secret: secret } = await fixture.call<{ url: string; signing_secret: string | null }>(
      'webhook.add',
      { name, source: 'generic', signed },
    );
    made.set(`${name} token`, url.split('/').at(-1)!);
    if (secret !== null) made.set('signing secret', secret);
  }
  const urlOf = (name: string): string => `${daemon.ready.ingress_url}/hook/${made.get(`${name} token`)!}`;
  const sign = (body: string): Record<string, string> => {
    const at = Math.floor(Date.now() / 1_000);
    const hmac = createHmac('sha256', made.get('signing secret')!).update(`${at}.${body}`);
    return { 'X-Gatehouse-Signature': `t=${at},v1=${hmac.digest('hex')}` };
  };
  const { answers, signedTaken } = await sendMessages(urlOf, sign);
  for (const method of ['DELETE', 'OPTIONS']) answers.push((await tell(urlOf('plain'), undefined, { method })).text);
  const statuses = new Set(answers.map((answer) => answer.slice(0, 3)));
  for (const status of ['202', '400', '401']) assert.ok(statuses.has(status), `no ${status} among the answers`);
  const api = daemon.api(fixture.token);
  const views = await Promise.all([
    fixture.call('webhook.list', {}),
    api.get('/events?limit=200'),
    api.get('/doctor'),
    api.get('/health'),
  ]);
  const tables = await Promise.all(
    (['webhooks', 'events', 'ledger', 'idempotency', 'webhook_keys', 'webhook_signatures'] as const).map((table) =>
      fixture.store.db.selectFrom(table).selectAll().execute(),
    ),
  );
  assert.deepEqual(
    [signedTaken, tables.at(-1)?.length],
    [7, 7],
    'signed messages were taken, each with a row of webhook_signatures',
  );
  const refusal = await fixture
    .call('webhook.add', { name: 'plain', source: 'generic' })
    .then(() => assert.fail('a name was given twice'), String);
  assert.ok(
    JSON.stringify(views).includes('DiskFull') && JSON.stringify(tables).includes('webhook.add'),
    'what is looked through is there',
  );
  await daemon.stop();
  const texts: [string, string | Buffer][] = [
    ['the log', daemon.log()],
    ['the answers', answers.join('\n')],
    ['the views', JSON.stringify(views)],
    ['the rows', JSON.stringify(tables)],
    ['the refusal', refusal],
  ];
  for (const entry of readdirSync(fixture.dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) texts.push([entry.name, readFileSync(join(entry.parentPath, entry.name))]);
  }
  assert.ok(
    texts.some(([name, content]) => name.startsWith('gatehouse.db') && content.includes('DiskFull')),
    texts.map(([name]) => name).join(', '),
  );
  for (const [where, content] of texts)
    for (const [what, secret] of made) assert.ok(!content.includes(secret), `the ${what} is in ${where}`);
});
