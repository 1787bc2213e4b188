/** Each page of the console, as a browser without scripts gets it. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { describe, it } from 'node:test';
import { PAGES } from '../../src/faces/web/pages/table.ts';
import { ASSETS } from '../../src/faces/console/assets.ts';
import { SECTIONS } from '../../src/faces/console/page.ts';
import { html } from '../../src/faces/html/html.ts';
import { textOf } from '../../src/faces/areas/texts.ts';
import { startProgram } from '../support/program.ts';
import { gate } from '../support/fixtures/approvals.ts';
import { rewrite } from '../support/store/rewrite.ts';
import { EVIL, pathOf, tellStory } from '../support/console/story.ts';
import { formsOf, visit } from '../support/console/visitor.ts';

const GZIP_MAX: Readonly<Record<string, number>> = { css: 8_192, js: 15_360, svg: 1_024, webmanifest: 1_024 };
const LIST_GZIP_MAX = 20_480;

function judge(path: string, basePath: string, text: string, headers: Headers): void {
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; /, path);
  assert.match(
    policy,
    /; connect-src 'self'; manifest-src 'self'; require-trusted-types-for 'script'; trusted-types svc svc-worker; /,
    path,
  );
  assert.equal(headers.get('cache-control'), 'no-store', path);
  assert.doesNotMatch(text, /<script(?! defer src="[^"]*"><\/script>)|<img|<[^>]*\s(?:style|on\w+)=/, path);
  for (const character of ['\u202e', '\u001b']) assert.ok(!text.includes(character), path);
  for (const [, address = ''] of text.matchAll(/(?:href|action|src)="([^"#][^"]*)"/g))
    assert.ok(address.startsWith(`${basePath}/`) && !address.startsWith('//'), `${path} names ${address}`);
  assert.match(text, /This page elsewhere: <code>/, path);
}

describe('The console', () => {
  for (const basePath of ['', '/ops/x'])
    it(`answers each page${basePath === '' ? '' : ` below ${basePath}`}, without a script and escaped`, async (t) => {
      const program = await startProgram(t, { basePath });
      const story = await tellStory(program);
      const visitor = await visit(program, program.tokens.operator);
      for (const page of PAGES) {
        const path = pathOf(page.path, story);
        if (path === null) continue;
        const { status, headers, text } = await visitor.open(path);
        assert.equal(status, 200, `${path}: ${/<div role="alert">.*?<\/div>/s.exec(text)?.[0] ?? ''}`);
        judge(path, basePath, text, headers);
      }
      for (const asset of ASSETS) {
        const { status, headers, text } = await visitor.open(asset.path);
        assert.deepEqual([status, text], [200, asset.body]);
        const kept = asset.isFixed === true ? 'no-cache' : 'private, max-age=31536000, immutable';
        assert.equal(headers.get('cache-control'), kept);
      }
    });

  it('shows foreign text as text, and the colours of output as classes', async (t) => {
    const program = await startProgram(t);
    const story = await tellStory(program);
    const visitor = await visit(program, program.tokens.operator);
    const job = (await visitor.open(`/jobs/${story.id.jobs}`)).text;
    assert.match(job, /<span class="c-fail">red<\/span> &quot;&gt;&lt;img src=x onerror=alert\(1\)&gt;/);
    assert.match(job, /&lt;\/script&gt;\\u202e<\/span>/, 'the sequence that clears a screen is left out');
    const event = (await visitor.open(`/events/${story.id.events}`)).text;
    assert.ok(
      event.split('&lt;script&gt;alert(2)&lt;/script&gt;\\u202e\\u001b[2J').length > 4,
      'name, label and reason',
    );
    const filter = (await visitor.open(`/jobs?runbook=${encodeURIComponent(EVIL)}`)).text;
    assert.match(filter, /name="runbook" value="&quot;&gt;&lt;img/);
  });

  it('lists in each section, marks where one is, and leaves out what the scope may not see', async (t) => {
    const program = await startProgram(t);
    const operator = await visit(program, program.tokens.operator);
    const { text } = await operator.open('/tokens');
    for (const section of SECTIONS) assert.match(text, new RegExp(`">${section}`));
    assert.match(text, /aria-current="true">System/);
    assert.match(text, /aria-current="page">Tokens/);
    const readonly = await visit(program, program.tokens.readonly);
    const refused = await readonly.open('/tokens');
    assert.equal(refused.status, 403);
    assert.match(refused.text, /token\.list needs the scope operator; this credential has readonly\./);
    assert.doesNotMatch(refused.text, />Tokens<\/a>/);
  });

  it('filters with the names and values of the API, and says which command does the same', async (t) => {
    const program = await startProgram(t);
    const visitor = await visit(program, program.tokens.readonly);
    const queued = await program.queue();
    const all = (await visitor.open('/jobs?state=queued&limit=')).text;
    assert.ok(all.includes(queued));
    assert.match(all, /<option value="queued" selected>/);
    assert.match(all, /<code>svc job list --state queued<\/code> .* · <code>GET \/api\/v1\/jobs\?state=queued<\/code>/);
    const none = (await visitor.open('/jobs?state=failed')).text;
    assert.ok(!none.includes(queued));
    assert.match(none, /Nothing matches the filter\./);
  });

  it('shows the newest part of a long log, and each part of it by its address', async (t) => {
    const program = await startProgram(t);
    const id = await program.queue();
    await program.claim();
    await program.print(
      id,
      Array.from({ length: 600 }, (_, i) => `line ${i}`),
    );
    const visitor = await visit(program, program.tokens.readonly);
    const newest = (await visitor.open(`/jobs/${id}`)).text;
    assert.match(newest, /line 599</);
    assert.doesNotMatch(newest, /line 99</);
    const all = (await visitor.open(`/jobs/${id}?since=0`)).text;
    assert.match(all, /<div id="L1" data-at="[\d:]{8}" class="state">.*<a href="#L2">2<\/a><span>line 0</s);
    assert.ok(all.length > newest.length);
  });

  it('has the whole log as text, without colours and in safe characters, and the time of each line', async (t) => {
    const program = await startProgram(t);
    const story = await tellStory(program);
    const visitor = await visit(program, program.tokens.readonly);
    const page = await visitor.open(`/jobs/${story.id.jobs}`);
    const [, path = ''] = /<a href="([^"]*)">Raw<\/a>/.exec(page.text) ?? [];
    const { status, headers, text } = await visitor.open(path);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    assert.match(headers.get('content-disposition') ?? '', new RegExp(`^inline; filename="${story.id.jobs}.txt"$`));
    for (const character of ['\u202e', '\u001b']) assert.ok(!text.includes(character));
    assert.match(text, /^-- queued\n/);
    const lines = [...page.text.matchAll(/<div id="L\d+" data-at="\d\d:\d\d:\d\d"/g)];
    assert.equal(lines.length, text.trimEnd().split('\n').length, 'one line of text for each event');
    assert.equal((await visitor.open('/jobs/job_00000000000000000000000000/output.txt')).status, 404);
    assert.equal((await visitor.open('/jobs/x%22%0d%0aX-Y:%20z/output.txt')).status, 400);
    const none = await fetch(`${program.url}${path}`);
    assert.equal(none.status, 401, 'nothing without signing in');
  });

  it('T44: has the plan of an approval in the words of the command line too, without a script', async (t) => {
    const program = await startProgram(t);
    const { approval } = await gate(program.store, {}, await program.services.keyring());
    const visitor = await visit(program, program.tokens.operator);
    const structured = await visitor.open(`/approvals/${approval.id}`);
    assert.match(structured.text, /aria-current="true">Structured<.*<details open>/s);
    const [, link = ''] = /href="([^"#]*)#plan">Console</.exec(structured.text) ?? [];
    const { text } = await visitor.open(link);
    assert.match(text, /aria-current="true">Console</);
    const [, shown = ''] = /<pre>(.*?)<\/pre>/s.exec(text) ?? [];
    const headers = { authorization: `Bearer ${program.tokens.operator}` };
    const answer = await fetch(`${program.url}/api/v1/approvals/${approval.id}/plan`, { headers });
    const { data } = (await answer.json()) as { data: unknown };
    const words = textOf('approval.plan', data, { nowMs: 0, color: false, width: null });
    assert.ok(typeof words === 'string' && words.includes('[redacted · secret]'));
    assert.equal(shown, html`${words.trimEnd()}`.text);
    assert.match(text, /Approve, destroying 1/, 'the decision stays');
  });

  it('keeps its sizes', async (t) => {
    const program = await startProgram(t);
    for (let i = 0; i < 100; i += 1) await program.queue();
    const visitor = await visit(program, program.tokens.operator);
    const { text } = await visitor.open('/jobs');
    assert.equal(text.match(/<tr>/g)?.length, 101);
    assert.ok(gzipSync(text).length <= LIST_GZIP_MAX, `${gzipSync(text).length} bytes`);
    for (const { path, body } of ASSETS) {
      const most = GZIP_MAX[path.slice(path.lastIndexOf('.') + 1)] ?? 0;
      assert.ok(gzipSync(body).length <= most, `${path}: ${gzipSync(body).length} bytes`);
    }
  });

  it('counts at most 99 approvals, and asks for no more', async (t) => {
    const program = await startProgram(t);
    await gate(program.store, { planned: false });
    const visitor = await visit(program, program.tokens.operator);
    assert.match((await visitor.open('/jobs')).text, /<title>\(1\) Jobs/);
    for (let i = 1; i < 101; i += 1) await gate(program.store, { planned: false });
    const { text } = await visitor.open('/');
    assert.match(text, /<title>\(99\+\) Overview/);
    assert.match(text, /99\+ approvals need a person/);
    assert.match((await visitor.open('/approvals')).text, /The first 100\./);
    const limited = await fetch(`${program.url}/api/v1/approvals?limit=3`, {
      headers: { authorization: `Bearer ${program.tokens.readonly}` },
    });
    assert.equal(((await limited.json()) as { data: unknown[] }).data.length, 3);
  });

  it('T87: shows the first hundred interrupted jobs, and where all of them are', async (t) => {
    const program = await startProgram(t);
    for (let i = 0; i < 101; i += 1) await program.queue();
    await rewrite(program.store, 'jobs', { state: 'interrupted', finished_at: 1 });
    const visitor = await visit(program, program.tokens.operator);
    const { text } = await visitor.open('/maintenance');
    assert.match(text, /The first 100 of 101\. All: <code>svc maintenance interrupted<\/code>/);
    assert.equal(new Set(text.match(/job_[0-9a-z]{26}/g)).size, 100);
  });

  it('of a process without a queue says that it cannot know of a cordon', async (t) => {
    const program = await startProgram(t, { hasQueue: false });
    const visitor = await visit(program, program.tokens.operator);
    const { text } = await visitor.open('/jobs');
    assert.match(text, /This process has no job queue: only the daemon knows whether the service is cordoned\./);
    const maintenance = await visitor.open('/maintenance');
    assert.equal(maintenance.status, 200);
    assert.match(maintenance.text, /<h1>Only the daemon knows whether it is safe to reboot<\/h1>.*<h2>Daemons<\/h2>/s);
    assert.doesNotMatch(maintenance.text, /maintenance\/cordon/);
  });

  it('has no form for a visitor who can post none', async (t) => {
    const program = await startProgram(t);
    const { id } = await tellStory(program);
    const bearer = { authorization: `Bearer ${program.tokens.operator}` };
    const page = await fetch(`${program.url}/approvals/${id.approvals}`, { headers: bearer });
    assert.deepEqual([page.status, formsOf(await page.text())], [200, []]);
  });

  it('is bounded, however long the lines of a log are, and however many', async (t) => {
    const program = await startProgram(t);
    const id = await program.queue();
    await program.claim();
    for (let part = 0; part < 100; part += 1)
      await program.print(
        id,
        Array.from({ length: 4 }, () => '<'.repeat(45_000)),
      );
    const visitor = await visit(program, program.tokens.readonly);
    for (const path of [`/jobs/${id}`, `/jobs/${id}?since=0`]) {
      const { status, text } = await visitor.open(path);
      assert.deepEqual([status, text.length < 4_000_000], [200, true], `${path}: ${text.length}`);
      assert.match(text, /… \(45000 characters\)/);
      assert.match(text, /<p><span>Lines \d+ to \d+\./);
    }
    assert.match((await visitor.open(`/jobs/${id}`)).text, /<div id="L401"/, 'the newest line is shown');
    assert.match((await visitor.open(`/jobs/${id}?since=600`)).text, /Nothing follows\./);
  });

  it('keeps the form of a filter that is refused', async (t) => {
    const program = await startProgram(t);
    const visitor = await visit(program, program.tokens.readonly);
    for (const [path, words] of [
      ['/jobs?state=none', /state: expected one of/],
      ['/jobs?sate=failed', /&quot;sate&quot; is no filter of this page\./],
    ] as const) {
      const { status, text } = await visitor.open(path);
      assert.equal(status, 400);
      assert.match(text, words);
      assert.match(text, /<form class="filter"/);
    }
  });
});
