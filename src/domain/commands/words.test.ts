import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { EVENT_LIMITS, type EventFacts } from '../events/event.ts';
import { ActionRefused } from '../actions/action-refused.ts';
import { compileAction } from '../rules/fill.ts';

function event(x: string): EventFacts {
  const rest = { severity: null, fingerprint: 'f', annotations: {}, netgroup: null, receivedAt: 0 };
  return { source: 'generic', name: 'Disk', status: 'firing', labels: { x }, ...rest };
}

function compile(words: readonly string[], isEarlier = false): ReturnType<typeof compileAction> {
  const action = { kind: 'command', command: words, inventory: 'localhost', limit: null, timeout: null } as const;
  return compileAction(action, isEarlier);
}

/** The words that the label `x` makes of the command, or the error. */
async function fill(words: readonly string[], x: string, isEarlier = false): Promise<readonly string[] | string> {
  const filled = (await compile(words, isEarlier)).fill(event(x));
  if ('error' in filled) return filled.error;
  return filled.action.kind === 'command' ? filled.action.command : [];
}

async function refused(words: readonly string[], message: RegExp, isEarlier = false): Promise<void> {
  await assert.rejects(
    compile(words, isEarlier),
    (error) => error instanceof ActionRefused && message.test(error.message),
    words.join(' '),
  );
}

const X = '${event.labels.x}';
const PATH = '${path(event.labels.x)}';
const NAMES = ['web1', 'A', '_', '0', 'web1:9100', 'user@web-1.example.org', '10.0.0.7', 'x'.repeat(253)];
const PATHS = ['/', '/var/lib/x', '/a.b/..c/-d/', '//', '/x:y@z'];
const NEITHER = [
  '', ' ', '-v', '--', '.', '..', '.x', ':x', '@x', 'a b', 'a\n', 'a\tb', "'", '"', '`id`', '$(id)', '${x}', ';', 'a;b',
  '|', '&', '*', '?', '[a]', '{a,b}', '~', '!x', '#x', '%s', 'a=b', 'a,b', 'a+b', 'a\\b', '<x', '>x', '(x)',
  '\u{202e}x', 'wéb', 'x'.repeat(254), '../x', 'a/../b', '/..', '/../x', '/x/..', '/x/../y', '/x y', '/$x', 'a/b',
  './x',
]; // prettier-ignore

describe('T14: A value of an event in a word of a command', () => {
  test('is a name', async () => {
    for (const x of NAMES) assert.deepEqual(await fill(['df', X], x), ['df', x]);
    for (const x of [...PATHS, ...NEITHER])
      assert.match(String(await fill(['df', X], x)), /^command: word 2: "[^]*" is not accepted; expected a name/, x);
  });

  test('is an absolute path as ${path(…)}', async () => {
    for (const x of PATHS) assert.deepEqual(await fill(['df', PATH], x), ['df', x]);
    for (const x of [...NAMES, ...NEITHER])
      assert.match(
        String(await fill(['df', PATH], x)),
        /^command: word 2: "[^]*" is not accepted; expected an absolute path/,
        x,
      );
  });

  test('is refused at the length at which the receipt of an event cuts', async () => {
    const longest = `/${'x'.repeat(EVENT_LIMITS.valueCharacters - 2)}`;
    assert.deepEqual(await fill(['df', PATH], longest), ['df', longest]);
    for (const x of [`${longest}y`, `${longest}yz`])
      assert.match(String(await fill(['df', PATH], x)), /; expected an absolute path: .*, at most 1999 characters, /);
    for (const key of ['name', 'severity'] as const)
      for (const word of [`\${event.${key}}`, `--dir=\${path("/srv/" + event.${key})}`]) {
        const action = await compile(['df', word]);
        const events = [199, 200].map((length) => ({ ...event(''), [key]: 'x'.repeat(length) }));
        const [whole, cut] = events.map((each) => action.fill(each));
        assert.ok(whole !== undefined && 'action' in whole);
        const error = `command: word 2: event.${key} is not accepted; expected fewer than 200 characters`;
        assert.deepEqual(cut, { error });
      }
  });

  test('is refused with a hint to path(…), if it is a path', async () => {
    const expected =
      'command: word 2: "/srv" is not accepted; expected a name: letters, ' +
      'digits and _ . : @ -, at most 253 characters, the first a letter, a ' +
      'digit or _; write ${path(…)} for an absolute path';
    assert.equal(await fill(['df', X], '/srv'), expected);
  });

  test('ends a word whose fixed text ends with =, / or :', async () => {
    const words = ['df', `--name=${X}`, `/data/${X}`, `host:${X}`, `a=b/${X}`, `--dir=${PATH}`];
    assert.deepEqual(await fill(words.slice(0, 5), 'web1'), [
      'df',
      '--name=web1',
      '/data/web1',
      'host:web1',
      'a=b/web1',
    ]);
    assert.deepEqual(await fill(['df', `--dir=${PATH}`], '/srv'), ['df', '--dir=/srv']);
    const other = [
      `a${X}`,
      `-${X}`,
      `--${X}`,
      `-n${X}`,
      `${X}.log`,
      `/data/${X}/log`,
      `${X}${X}`,
      `${X}/${X}`,
      `disk ${X}`,
      `a,${X}`,
      `a=${X} `,
    ];
    for (const word of other)
      await refused(['df', word], /^command: word 2: \$\{…\} must be a whole word, or the end of a word/);
  });

  test('is refused beside a character that a program cannot receive', async () => {
    for (const word of [`\0=${X}`, `\ud800=${X}`, '\0', 'a\ud800'])
      await refused(['df', word], /^command: word 2: it has a character that cannot be passed to a program$/);
  });

  test('is never the program', async () => {
    for (const word of [X, PATH, `/opt/${X}`, `${X}/fix`])
      await refused([word, 'x'], /^command: word 1: it names the program and must not come from the event/);
  });

  test('is in no word of a program that runs its arguments', async () => {
    const launchers = [
      'sh', '/bin/bash', 'python3', 'python3.11', 'pypy3', 'perl5.36.0', 'node', 'node-20', 'lua5.4', 'php8.2', 'awk',
      'sed', 'env', '/usr/bin/env', 'sudo', 'su', 'xargs', 'ssh', 'timeout', 'nice', 'watch', 'busybox', 'chroot',
      'systemd-run', '/opt/x/../bash', 'Rscript', 'bash-static', 'busybox.static', 'python3.12d', 'python3-dbg',
      'python3.12-dbg', 'perl5.36-x86_64-linux-gnu', 'php-cgi8.2',
      'entr', 'gdb', 'machinectl', 'ld.so', '/lib64/ld-linux-x86-64.so.2', 'ld-musl-x86_64.so.1', 'ld-2.31.so',
    ]; // prettier-ignore
    for (const first of launchers)
      for (const word of [X, PATH, `/data/${X}`])
        await refused(
          [first, '-c', 'true', word],
          /^command: word 4: "[\w.-]+" runs its arguments, so \$\{…\} is not accepted/,
        );
    for (const first of [
      'df',
      'bashful',
      '/usr/local/bin/fix-env',
      'systemctl',
      'docker',
      'pythonic',
      'sshfs',
      '7z',
      'node_exporter',
      'sh2ps',
      'time-sync',
      'ldap.so',
      'ldconfig',
      'ip',
    ])
      assert.deepEqual(await fill([first, X], 'web1'), [first, 'web1']);
    assert.deepEqual(await fill(['sh', '-c', 'echo $${x}'], 'web1'), ['sh', '-c', 'echo ${x}']);
  });

  test('is a path only where path(…) is all of the expression', async () => {
    assert.deepEqual(await fill(['df', '${ path ( event.labels["x"] ) }'], '/srv'), ['df', '/srv']);
    assert.deepEqual(await fill(['df', '${path((event.labels.x) + "/a")}'], '/srv'), ['df', '/srv/a']);
    await refused(
      ['df', '${path(event.labels.x) + "/a"}'],
      /word 2: path\(…\) takes one value and must be the whole expression$/,
    );
    await refused(
      ['df', '${path(event.labels.x) + path("/a")}'],
      /word 2: path\(…\) takes one value and must be the whole expression$/,
    );
    await refused(['df', '${path("/a", "/b")}'], /word 2: path\(…\) takes one value and must be the whole expression$/);
    await refused(['df', '${path(event.labels)}'], /must yield a text or a number; it yields a map/);
    await refused(['df', '${path(event.nam)}'], /character 11: event has no field "nam"/);
    const action = { kind: 'plan', workspace: PATH, timeout: null } as const;
    await assert.rejects(compileAction(action), /plan: \$\{path\(…\)\} is accepted only in a word of a command/);
  });

  test('of a rule of an earlier build is allowed as in that build, and may be a path as a whole word', async () => {
    for (const x of [...NAMES, ...PATHS]) assert.deepEqual(await fill(['df', X], x, true), ['df', x]);
    for (const x of NEITHER) assert.match(String(await fill(['df', X], x, true)), /is not accepted; expected a name/);
    assert.deepEqual(await fill(['logger', `disk ${X} of ${X}`, `-n${X}`], 'web1', true), [
      'logger',
      'disk web1 of web1',
      '-nweb1',
    ]);
    assert.match(
      String(await fill(['logger', `disk ${X}`], '/srv', true)),
      /^command: word 2: "\/srv" is not accepted; expected a name/,
    );
    assert.deepEqual(await fill(['bash', '/opt/fix.sh', X], 'web1', true), ['bash', '/opt/fix.sh', 'web1']);
    const words = ['timeout', '9', 'logger', `disk ${X} is full`];
    assert.deepEqual(await fill(words, 'web1', true), ['timeout', '9', 'logger', 'disk web1 is full']);
    for (const x of [...PATHS, ...NEITHER])
      assert.match(String(await fill(words, x, true)), /is not accepted; expected a name/);
    await refused([X], /word 1: it names the program/, true);
  });

  test('is refused when the rule is added, if it is the same for every event and not accepted', async () => {
    for (const word of ["${'../etc'}", '${"a b"}', '--x=${-1}', '${path("/a/..")}'])
      await refused(['df', word], /^command: word 2: "[^"]+" is not accepted; expected/);
    assert.deepEqual(await fill(['df', '${"a"}', '--dir=${path("/srv")}'], ''), ['df', 'a', '--dir=/srv']);
    const afterSlash = /^command: word 2: \$\{path\(…\)\} is an absolute path; .* must not end with "\/"$/;
    await refused(['df', `x/${PATH}`], afterSlash);
  });

  test('is refused with the hint to path(…) only where that is accepted', async () => {
    for (const [words, isEarlier] of [
      [['df', `/data/${X}`], false],
      [['df', `disk ${X}`], true],
      [['sh', '-c', `a=${X}`], true],
    ] as const)
      assert.match(String(await fill(words, '/srv', isEarlier)), /"\/srv" is not accepted; expected a name: [^$]*$/);
    assert.match(
      String(await fill(['df', `--dir=${X}`], '/srv', true)),
      /; write \$\{path\(…\)\} for an absolute path$/,
    );
  });

  test('of a missing label names the label where it cannot be converted', async () => {
    assert.equal(
      await fill(['df', '${int(event.labels.size)}'], ''),
      'command: word 2: character 1: event.labels.size cannot be converted to an integer; event.labels.size is not set',
    );
  });

  test('holds only these characters, whatever the event says', async () => {
    const [name, path] = [await compile(['df', X]), await compile(['df', PATH])];
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom(...NAMES, ...PATHS, ...NEITHER)),
        (x) => {
          const [asName, asPath] = [name.fill(event(x)), path.fill(event(x))];
          if ('action' in asName) assert.match(x, /^\w[\w.:@-]*$/);
          if ('action' in asPath) assert.ok(/^\/[\w.:@/-]*$/.test(x) && !x.split('/').includes('..'), x);
        },
      ),
    );
  });
});
