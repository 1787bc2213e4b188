/** Paths that try to get around the guard, or to be two things at once. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Program, startProgram } from '../../support/program.ts';
import { exchange, request, split } from '../../support/raw-http.ts';

/** In place of a slash. */
const SLASHES = [
  '/',
  '//',
  '///',
  '/./',
  '/../',
  '/..;/',
  '/.;/',
  '/%2e/',
  '/%2e%2e/',
  '/%2f',
  '/%5c',
  '\\',
  '/\\',
  '/%00/',
  '/;x=y/',
];
/** Behind the path. */
const SUFFIXES = [
  ';',
  ';a',
  '.json',
  '/.',
  '%20',
  '%0a',
  '%0d%0a',
  '~',
  '#',
  '#x',
  '?',
  '?#',
  '/index.html',
  '*',
  '%',
  '%2',
  '%zz',
  '%ff',
  '%c0%ae',
  '%ef%bc%8f',
];
/** Before it. */
const ORIGINS = [
  'http://localhost',
  'HTTP://evil.example',
  'https://a:b@evil.example:99',
  'http:',
  'http:/',
  'ftp://x',
  '//evil.example',
  '*',
  'jobs',
];

/** Disguises of `/api/v1/jobs`, without a prefix. What each leads to is 404, or exactly what the plain path answers. */
function disguises(): string[] {
  const plain = '/api/v1/jobs';
  const letters = plain.split('').flatMap((letter, i) => {
    const code = letter.charCodeAt(0).toString(16);
    const put = (text: string): string => plain.slice(0, i) + text + plain.slice(i + 1);
    return [put(`%${code}`), put(`%${code.toUpperCase()}`), put(`%25${code}`), put(`%u00${code}`)];
  });
  const slashes = SLASHES.flatMap((each) => [
    `${each}api/v1/jobs`,
    `/api${each}v1/jobs`,
    `/api/v1${each}jobs`,
    `/api/v1/jobs${each}`,
    `/api/v1/whoami${each}../jobs`,
  ]);
  const cases = ['/API/V1/JOBS', '/Api/v1/jobs', '/api/V1/jobs', '/api/v1/Jobs', '/api/v1/job\u017f'];
  return [
    ...letters,
    ...slashes,
    ...SUFFIXES.map((each) => plain + each),
    ...cases,
    ...ORIGINS.map((each) => each + plain),
  ];
}

for (const basePath of ['', '/ops', '/ops/deep']) {
  describe(`With the base path "${basePath}"`, () => {
    let program: Program;
    let canonical: string;
    before(async () => {
      program = await startProgram(null, { basePath });
      await program.queue();
      canonical = split(
        await exchange(program.port, request('GET', `${basePath}/api/v1/jobs`, bearer(program.tokens.readonly))),
      ).body;
      assert.match(canonical, /"kind":"job\.list"/);
    });
    after(() => program.close());

    const corpus = disguises().map((path) =>
      /^[a-zA-Z]+:\/\/[^/]*/.test(path) ? path.replace(/^([a-zA-Z]+:\/\/[^/]*)/, `$1${basePath}`) : basePath + path,
    );
    const twice =
      basePath === ''
        ? []
        : [
            `${basePath}${basePath}/api/v1/jobs`,
            '/api/v1/jobs',
            `${basePath}x/api/v1/jobs`,
            `/${basePath}/api/v1/jobs`,
            basePath.toUpperCase() + '/api/v1/jobs',
          ];

    test(`T02: ${corpus.length} disguises of a path need its credential, and never show anything else`, async () => {
      assert.ok(corpus.length >= 150);
      for (const target of [...corpus, ...twice]) {
        const bare = split(await exchange(program.port, Buffer.from(request('GET', target), 'utf8')));
        assert.ok([400, 401].includes(bare.status), `${target} without a credential: ${bare.status}`);
        const asHost = split(
          await exchange(program.port, Buffer.from(request('GET', target, bearer(program.tokens.host)), 'utf8')),
        );
        assert.ok([400, 403, 404].includes(asHost.status), `${target} as a host: ${asHost.status}`);
        const known = split(
          await exchange(program.port, Buffer.from(request('GET', target, bearer(program.tokens.readonly)), 'utf8')),
        );
        if (known.status === 200) assert.equal(known.body, canonical, target);
        else assert.match(known.body, /^\{"schema_version":1,"kind":"error",.*\}\n$/s, `${target}: ${known.status}`);
      }
    });

    test('T02: What lies outside of the base path is not served', async () => {
      for (const target of twice) {
        const { status } = split(await exchange(program.port, request('GET', target, bearer(program.tokens.readonly))));
        assert.equal(status, 404, target);
      }
    });

    test('T02: Methods that no route has are an envelope, after the credential', async () => {
      for (const method of ['OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'MKCOL', 'QUERY', 'M-SEARCH', 'LINK']) {
        const target = `${basePath}/api/v1/jobs`;
        const bare = split(await exchange(program.port, request(method, target)));
        assert.deepEqual([bare.status, /"unauthenticated"/.test(bare.body)], [401, true], method);
        const known = split(await exchange(program.port, request(method, target, bearer(program.tokens.operator))));
        assert.deepEqual([known.status, /"not_found"/.test(known.body)], [404, true], method);
      }
    });

    test('A bare prefix leads to the dashboard, with and without a slash at its end', async () => {
      for (const target of [basePath === '' ? '/' : basePath, `${basePath}/`, `${basePath}/?x=1`]) {
        const signIn = split(await exchange(program.port, request('GET', target)));
        assert.equal(signIn.status, 401, target);
        assert.match(signIn.body, new RegExp(`action="${basePath}/login"`));
        const cookie = await program.session(program.tokens.readonly);
        const dashboard = split(await exchange(program.port, request('GET', target, { Cookie: cookie })));
        assert.equal(dashboard.status, 200, target);
        assert.match(dashboard.body, new RegExp(`action="${basePath}/logout"`));
      }
    });
  });
}

function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}
