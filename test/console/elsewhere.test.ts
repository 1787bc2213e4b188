/** The foot of each page names a command and a route: run as they are, both answer the same bytes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { localCaller } from '../../src/domain/access/caller.ts';
import { PAGES } from '../../src/faces/web/pages/table.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { pathOf, tellStory } from '../support/console/story.ts';
import { visit } from '../support/console/visitor.ts';
import { startProgram } from '../support/program.ts';
import { appOf, svc } from '../support/terminal.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function placesOf(text: string): string[] {
  const [, foot = ''] = /<p class="elsewhere">(.*?)<\/p>/s.exec(text) ?? [];
  return [...foot.matchAll(/<code>(.*?)<\/code>/gs)].map(([, code = '']) =>
    code.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity),
  );
}

/** The words of a command as a shell reads them, without `svc`. */
function wordsOf(command: string): string[] {
  return execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(1, -1);
}

it('"This page elsewhere" works as it is written, and the command answers what the route does', async (t) => {
  const program = await startProgram(t, { basePath: '/ops' });
  const { store, services, tokens } = program;
  const story = await tellStory(program);
  const visitor = await visit(program, tokens.operator);
  const { origin } = new URL(program.url);
  const headers = { authorization: `Bearer ${tokens.operator}` };
  const local = appOf({ store, services }, localCaller('ana'));
  let both = 0;
  const queries = [
    '/jobs?state=failed&limit=3',
    '/jobs?runbook=it\'s+"x"',
    '/events?outcome=fired',
    '/approvals?all=true',
  ];
  for (const path of [...PAGES.map((page) => pathOf(page.path, story)), ...queries]) {
    if (path === null || path.startsWith('/docs')) continue;
    const places = placesOf((await visitor.open(path)).text);
    const command = places.find((each) => each.startsWith('svc '));
    const route = places.find((each) => each.startsWith('GET '))?.slice('GET '.length);
    const body = route === undefined ? null : await (await fetch(origin + route, { headers })).text();
    if (body !== null) assert.match(body, /^\{"schema_version":1,"kind":"(?!error)/, path);
    if (command === undefined) continue;
    const where = body === null ? { app: local } : { env: { SVC_TOKEN: tokens.operator, SVC_REMOTE: program.url } };
    const words = [...wordsOf(command), '--output', 'json'];
    const { exitCode, stdout, stderr } = await svc(words, { clock: systemClock, ...where });
    assert.ok(exitCode === 0 || path === '/health', `${path}: ${command}: ${stdout}${stderr}`);
    assert.match(stdout, /^\{"schema_version":1,"kind":"(?!error)/, path);
    // Health and readiness are measured again each time.
    if (body !== null && path !== '/health') assert.equal(stdout, body, `${path}: ${command}`);
    if (body !== null) both += 1;
  }
  assert.ok(both > 15, String(both));
});
