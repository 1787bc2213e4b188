import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../../domain/failure.ts';
import { isNone } from '../../../operations/core/http-face.ts';
import { parseInput } from '../../../operations/core/parse.ts';
import { OPERATIONS } from '../../../operations/table.ts';
import { sendJson, standIn } from '../../../../test/support/stand-in-server.ts';
import { svc } from '../../../../test/support/terminal.ts';
import { deriveTree } from './derive.ts';
import { inWordsOf } from './field-names.ts';
import { kebab, type Verb } from './tree.ts';

const TREE = deriveTree(OPERATIONS);

function refusalOf(operation: string, raw: object): string {
  const row = OPERATIONS.find(({ id }) => id === operation) ?? assert.fail(operation);
  try {
    parseInput(row.input, raw);
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
  return assert.fail(`${operation} takes ${JSON.stringify(raw)}`);
}

/** What a verb fills, and what it shows of it. */
function carriers({ flags, positionals, call }: Verb): [field: string, label: string][] {
  const given = flags.flatMap(({ field, name }): [string, string][] =>
    field === undefined ? [] : [[field, `--${name}`]],
  );
  const input = 'operation' in call ? call.stdin : undefined;
  return [
    ...given,
    ...positionals.map(({ field }): [string, string] => [field, kebab(field).toUpperCase()]),
    ...(input === undefined ? [] : [[input.field, '--file or standard input'] as [string, string]]),
  ];
}

test('every refusal that names a field names the flag or the argument that carries it, for each verb', () => {
  let count = 0;
  for (const each of TREE.verbs) {
    if (!('operation' in each.call)) continue;
    for (const [field, label] of carriers(each)) {
      const message = refusalOf(each.call.operation, { [field]: '\0' });
      assert.equal(message, `${field}: a NUL character is not allowed.`);
      assert.equal(inWordsOf(each, message), `${label}: a NUL character is not allowed.`, each.path);
      // What the schema says of a value of another type, among what else it says.
      const wrong = inWordsOf(each, refusalOf(each.call.operation, { [field]: Symbol('no value') }));
      assert.doesNotMatch(wrong, /(?:^|[.,] )[a-z]+_[a-z_]+: /, `svc ${each.path}`);
      count += 1;
    }
  }
  assert.ok(count > 100, String(count));
});

test('every field of an operation with a verb has something that carries it, or the row says that it has not', () => {
  for (const row of OPERATIONS) {
    if (isNone(row.cli)) continue;
    const verbs = TREE.verbs.filter(({ call }) => 'operation' in call && call.operation === row.id);
    const carried = new Set(
      verbs.flatMap((each) => [
        ...carriers(each).map(([field]) => field),
        ...('operation' in each.call ? Object.keys(each.call.preset ?? {}) : []),
      ]),
    );
    const lacking = Object.keys(row.input.shape).filter(
      (field) => !carried.has(field) && !isNone(row.cli) && row.cli.omit?.includes(field) !== true,
    );
    assert.deepEqual(lacking, [], row.id);
  }
});

const verb = (path: string): Verb => TREE.verbs.find((each) => each.path === path) ?? assert.fail(path);

test('several fields, parts of one and several sentences are renamed; words inside a sentence are kept', () => {
  assert.equal(
    inWordsOf(verb('mute add'), 'for, expires_at: expected exactly one of them.'),
    '--for, --expires-at: expected exactly one of them.',
  );
  assert.equal(
    inWordsOf(verb('command run'), 'egress_ports.0: expected 1 to 65535. limit: no such host.'),
    '--egress-port: expected 1 to 65535. --limit: no such host.',
  );
  assert.equal(
    inWordsOf(verb('workspace plan'), 'run_secrets.db: expected a secret.'),
    '--run-secret db: expected a secret.',
  );
  assert.equal(inWordsOf(verb('mute add'), 'There is no for: it is so.'), 'There is no for: it is so.');
  assert.equal(
    inWordsOf(verb('rule add'), 'when (line 2): event has no field "x".'),
    'when (line 2): event has no field "x".',
  );
});

test('text mode names the flag, locally and remotely; JSON mode names the field as every face does', async (t) => {
  const server = await standIn(t, (_, response) =>
    sendJson(
      response,
      400,
      '{"schema_version":1,"kind":"error","error":{"code":"invalid_argument","message":"scope_value: ' +
        'a mute of scope host needs one.","hint":"h"}}\n',
    ),
  );
  const env = { SVC_TOKEN: 'svc_test' };
  const argv = ['mute', 'add', 'host', '--for', '1h', '--remote', server.url];
  assert.match((await svc(argv, { env })).stderr, /^Error: SCOPE-VALUE: a mute of scope host needs one\.\n/m);
  assert.match((await svc([...argv, '--output', 'json'], { env })).stdout, /"message":"scope_value: /);
  assert.match(
    (await svc(['mute', 'add', 'global', '--expires-at', 'soon'])).stderr,
    /^Error: --expires-at: expected a time such as /,
  );
  assert.match(
    (await svc(['mute', 'add', 'global', '--expires-at', 'soon', '--output', 'json'])).stdout,
    /"message":"expires_at: /,
  );
});
