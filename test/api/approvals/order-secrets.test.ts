/** Stored secrets in an order, in each place that an author, a caller or a sender can write: no face shows one. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { composeNotification } from '../../../src/domain/notifications.ts';
import { askedFacts, orderWords } from '../../../src/daemon/notify/asked-facts.ts';
import { render } from '../../../src/faces/cli/render.ts';
import { REDACTED } from '../../../src/domain/secrets/redaction.ts';
import { insertLinks } from '../../../src/store/approvals/decision-links.ts';
import { getListedApproval } from '../../../src/store/approvals/approvals.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type HookFixture, openHookFixture } from '../../support/fixtures/hooks.ts';

/** One that is a name, and one that each encoding writes in another way. */
const PLAIN = 'zq7hunter2xk9';
const RICH = `Zq7"hunt' er2&Xk9<Ü>/42+\\pass`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** By the place, the word of a command, and what of it no face may show. */
const WORDS: Readonly<Record<string, readonly [word: string, hidden: string]>> = {
  'a word': [RICH, RICH],
  'a flag': [`--password=${RICH}`, RICH],
  'within a word': [`a${PLAIN}b`, PLAIN],
  'twice in a word': [`${PLAIN}:${PLAIN}`, PLAIN],
  'beside itself': [`${PLAIN}${PLAIN}`, PLAIN],
  'the user of a URL': [`https://${PLAIN}@db.invalid/x`, PLAIN],
  'the password of a URL': [`postgres://app:${encodeURIComponent(RICH)}@db.invalid/x`, encodeURIComponent(RICH)],
  'a parameter of a URL': [`https://db.invalid/?x=${encodeURIComponent(RICH)}`, encodeURIComponent(RICH)],
  'the path of a URL': [`https://db.invalid/${encodeURI(PLAIN)}/x`, PLAIN],
  'a form': [new URLSearchParams({ x: RICH }).toString(), new URLSearchParams({ x: RICH }).toString().slice(2)],
  JSON: [JSON.stringify({ password: RICH }), JSON.stringify(RICH).slice(1, -1)],
  'JSON in JSON': [JSON.stringify(JSON.stringify({ x: RICH })), JSON.stringify(JSON.stringify(RICH)).slice(3, -3)],
  base64: [base64(RICH), base64(RICH).slice(2, -4)],
  'base64 with a byte before it': [base64(`:${RICH}`), base64(`:${RICH}`).slice(4, -4)],
  'base64 with two bytes before it': [base64(`ab${RICH}`), base64(`ab${RICH}`).slice(4, -4)],
  'a login': [`Authorization: Basic ${base64(`app:${RICH}`)}`, base64(`app:${RICH}`).slice(8, -4)],
  'base64 of JSON': [base64(JSON.stringify({ auth: RICH })), base64(JSON.stringify({ auth: RICH })).slice(16, -6)],
  'base64 twice': [base64(base64(RICH)), base64(base64(RICH)).slice(8, -8)],
  base64url: [Buffer.from(RICH).toString('base64url'), Buffer.from(RICH).toString('base64url').slice(2, -4)],
  hex: [Buffer.from(RICH).toString('hex'), Buffer.from(RICH).toString('hex')],
  'hex in capitals': [Buffer.from(RICH).toString('hex').toUpperCase(), Buffer.from(RICH).toString('hex').toUpperCase()],
  'UTF-16 in base64': [
    Buffer.from(RICH, 'utf16le').toString('base64'),
    Buffer.from(RICH, 'utf16le').toString('base64').slice(2, -4),
  ],
  'quotes of a shell': [`PASS='${RICH.replaceAll("'", String.raw`'\''`)}'`, RICH.replaceAll("'", String.raw`'\''`)],
  'the word of a shell': [`sh -c "login ${PLAIN}"`, PLAIN],
  'the credentials of a URL that are no stored secret': ['ftp://me:not-stored@db.invalid/', 'not-stored'],
  'the directory of the service': ['/nowhere/svc.db', '/nowhere/'],
};

const RULE = `when: event.source == "generic"
approval: required
summary: uses ${PLAIN}
action:
`;

interface Opened {
  readonly fixture: HookFixture;
  readonly post: (text?: string) => Promise<Projected<'approval.list'>[number]>;
  readonly session: string;
}

async function opened(t: Parameters<typeof openHookFixture>[0]): Promise<Opened> {
  const fixture = await openHookFixture(t);
  const hosts = `web1 ansible_connection=local app_login=${PLAIN}\n${PLAIN} ansible_connection=local\n`;
  await fixture.call('secret.set', { secret: 'app/plain', value: PLAIN });
  await fixture.call('secret.set', { secret: 'app/rich', value: RICH });
  await fixture.call('inventory.add', { name: 'prod', text: hosts });
  await fixture.program.token('approve', { owner: 'ben' });
  const hook = await fixture.hook('generic');
  let sent = 0;
  return {
    fixture,
    session: await fixture.program.session(fixture.program.tokens.operator),
    async post(text = 'x') {
      const labels = { host: text, severity: text };
      const annotations = { summary: `is ${text}`, description: `is ${base64(text)} and ${text}` };
      const event = { name: `Disk ${text}`, status: 'firing', severity: 'warning', labels, annotations };
      sent += 1;
      const { status } = await fetch(hook, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...event, fingerprint: `${sent}` }),
      });
      assert.equal(status, 202);
      const [newest] = (await fixture.call('approval.list', {})) as Projected<'approval.list'>;
      assert.ok(newest !== undefined);
      return newest;
    },
  };
}

async function linkFor({ program, url }: HookFixture, approvalId: string): Promise<string> {
  const { approve } = await program.store.write((tx) =>
    insertLinks(tx, { approvalId, recipient: 'ben', target: null, madeBy: null }),
  );
  return `${url}/approval/${approvalId}/approve?token=${approve}`;
}

/** By the face, the part of its answer that shows the order. */
async function faces({ fixture, session }: Opened, { id, job_id: jobId }: { id: string; job_id: string }) {
  const order = (await fixture.call('approval.order', { id })) as Projected<'order'>;
  const approve = await linkFor(fixture, id);
  const console = await fetch(`${fixture.program.url}/approvals/${id}`, { headers: { cookie: session } });
  assert.equal(console.status, 200);
  const { store, services } = fixture.program;
  const words = await orderWords({ store, services }, jobId);
  const facts = { ...(await askedFacts(store, await getListedApproval(store.db, id))), about: null, heading: 'x' };
  const context = { id, detail: 'full', now: 0, baseUrl: '', node: 'vm', links: null } as const;
  const display = { nowMs: 0, color: false, width: null };
  return {
    API: JSON.stringify(order),
    'command line': render('order', order, display),
    message: composeNotification({ kind: 'approval', ...facts, ...words }, context).message,
    'decision page': /<dl>.*<\/dl>/s.exec(await (await fetch(approve)).text())?.[0] ?? '',
    console: /What runs<\/h2>.*?<\/dl>/s.exec(await console.text())?.[0] ?? '',
  };
}

function assertHidden(shown: Awaited<ReturnType<typeof faces>>, hidden: string, place: string): void {
  for (const [face, text] of Object.entries(shown)) {
    const plain = text
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
    assert.ok(plain.length > 0, `${face} shows no order`);
    for (const each of [text, plain, plain.replaceAll(String.raw`\"`, '"').replaceAll('\\\\', '\\')])
      assert.ok(!each.includes(hidden), `${face} shows ${hidden} as ${place}: ${each}`);
  }
}

test('A stored secret in a word of a command is hidden on every face, in each form', async (t) => {
  const all = await opened(t);
  for (const [place, [word, hidden]] of Object.entries(WORDS)) {
    const action = `  command: ["true", ${JSON.stringify(word)}]\n  inventory: localhost\n`;
    await all.fixture.call('rule.add', { name: 'clean', text: RULE + action, replace: true });
    const shown = await faces(all, await all.post());
    assert.match(shown['command line'], /Runs +true /, place);
    assert.ok(shown.API.includes(place.includes('directory') ? 'true' : REDACTED), place);
    assertHidden(shown, hidden, place);
  }
});

test('A stored secret elsewhere in an order is hidden on every face', async (t) => {
  const all = await opened(t);
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-order-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  await all.fixture.call('source.add', { name: 'ops', dir });
  const vars = {
    value: RICH,
    inner: { value: PLAIN },
    list: [PLAIN, RICH],
    [PLAIN]: 1,
    json: JSON.stringify({ x: RICH }),
  };
  const action = `  playbook: ${PLAIN}.yml
  source: ops
  inventory: prod
  limit: ${PLAIN}
  tags: [${PLAIN}]
  skip_tags: [a${PLAIN}]
  writable: [/srv/${PLAIN}]
  extra_vars: ${JSON.stringify(vars)}
`;
  await all.fixture.call('rule.add', { name: 'play', text: RULE + action });
  for (const text of [PLAIN, RICH]) {
    const shown = await faces(all, await all.post(text));
    assert.match(shown['command line'], /With +tags /);
    for (const hidden of [PLAIN, RICH, JSON.stringify(RICH).slice(1, -1), base64(RICH).slice(2, -4)])
      assertHidden(shown, hidden, `of a playbook, with ${text} from the sender`);
  }
});

test('Where a stored secret cannot be opened, no face shows the order, and each says so', async (t) => {
  const all = await opened(t);
  await all.fixture.call('rule.add', {
    name: 'clean',
    text: `${RULE}  command: ["true", "${PLAIN}"]\n  inventory: localhost\n`,
  });
  const { id } = await all.post();
  await all.fixture.program.store.write((tx) =>
    tx.db
      .updateTable('secrets')
      .set({ sealed: new Uint8Array(40) })
      .where('name', '=', 'plain')
      .execute(),
  );
  await assert.rejects(all.fixture.call('approval.order', { id }), { code: 'conflict', message: /app\/plain/ });
  const approve = await linkFor(all.fixture, id);
  const page = await (await fetch(approve)).text();
  assert.match(page, /The order cannot be shown: .*app\/plain/);
  assert.ok(!page.includes(`true ${PLAIN}`));
});
