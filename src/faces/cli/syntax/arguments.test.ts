import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArguments } from './arguments.ts';
import { TREE } from './tree.ts';
import { UsageFailure } from './usage.ts';

const ID = 'job_01m7yd4zyke00anp2z332d2j5p';

const READS: readonly { words: string; verb: string; fields?: object; flags?: object }[] = [
  { words: 'job list', verb: 'job list' },
  { words: 'job list --state failed --limit 10', verb: 'job list', fields: { state: 'failed', limit: 10 } },
  { words: 'job list --limit=0', verb: 'job list', fields: { limit: 0 } },
  { words: 'job list --limit -1', verb: 'job list', fields: { limit: -1 } },
  {
    words: 'check add a --kind tcp --interval 1s --target a=b=c --value -0.5',
    verb: 'check add',
    fields: { name: 'a', kind: 'tcp', interval: '1s', targets: ['a=b=c'], value: -0.5 },
  },
  { words: 'job list --limit many', verb: 'job list', fields: { limit: 'many' } },
  { words: 'job list --runbook=a=b', verb: 'job list', fields: { runbook: 'a=b' } },
  { words: 'job list --concurrency-key workspace:net', verb: 'job list', fields: { concurrency_key: 'workspace:net' } },
  { words: `job events ${ID} --since 40`, verb: 'job events', fields: { id: ID, since: 40 } },
  { words: `job --output json get ${ID}`, verb: 'job get', fields: { id: ID }, flags: { output: 'json' } },
  {
    words: '--output json --remote http://h job list',
    verb: 'job list',
    flags: { output: 'json', remote: 'http://h' },
  },
  {
    words: 'job redrive --state interrupted --state cancelled --dry-run',
    verb: 'job redrive',
    fields: { state: ['interrupted', 'cancelled'], dry_run: true },
  },
  {
    words: 'command run --inventory localhost --egress-port 443 --egress-port 80 -- ls -la --help',
    verb: 'command run',
    fields: { inventory: 'localhost', egress_ports: [443, 80], command: ['ls', '-la', '--help'] },
  },
  {
    words: 'command run --inventory localhost --wait echo -- --wait',
    verb: 'command run',
    fields: { inventory: 'localhost', command: ['echo', '--wait'] },
    flags: { wait: 'true' },
  },
  {
    words: 'command run --inventory localhost -- 007',
    verb: 'command run',
    fields: { inventory: 'localhost', command: ['007'] },
  },
  { words: 'token revoke -- -odd', verb: 'token revoke', fields: { token: '-odd' } },
  { words: 'serve --web-addr 127.0.0.1:0', verb: 'serve', flags: { 'web-addr': '127.0.0.1:0' } },
  { words: 'completion bash', verb: 'completion', fields: { shell: 'bash' } },
  {
    words: 'workspace plan net --wait --run-secret TOKEN=net/token --run-secret=key=net/a=b',
    verb: 'workspace plan',
    fields: { name: 'net', run_secrets: { TOKEN: 'net/token', key: 'net/a=b' } },
    flags: { wait: 'true' },
  },
  {
    words: 'workspace apply net --run-secret constructor=net/c',
    verb: 'workspace apply',
    fields: { name: 'net', run_secrets: { constructor: 'net/c' } },
  },
  { words: `approval approve apr_1 --reason ok`, verb: 'approval approve', fields: { id: 'apr_1', reason: 'ok' } },
  { words: `job wait ${ID} --timeout 5m`, verb: 'job wait', fields: { id: ID }, flags: { timeout: '5m' } },
];

for (const { words, verb, fields = {}, flags = {} } of READS) {
  test(`svc ${words}: is read as meant`, () => {
    const request = readArguments(TREE, words.split(' '));
    assert.equal(request.ask, 'run');
    assert.deepEqual(
      { verb: request.verb.path, fields: request.fields, flags: request.flags },
      { verb, fields, flags },
    );
  });
}

const HELP: readonly [words: string, topic: string][] = [
  ['', ''],
  ['--help', ''],
  ['-h', ''],
  ['help', ''],
  ['help job', 'job'],
  ['job -h', 'job'],
  ['job help list', 'job list'],
  ['job list --limit 3 -h', 'job list'],
  ['command run -h', 'command run'],
  ['help flags', 'flags'],
];

for (const [words, topic] of HELP) {
  test(`svc ${words}: asks for help`, () => {
    assert.deepEqual(readArguments(TREE, words.split(' ').filter(Boolean)), { ask: 'help', topic });
  });
}

const REFUSED: readonly [words: string, message: RegExp, hint: string][] = [
  ['jbo', /^Unknown command "jbo"\. Did you mean "job"\?$/, 'svc --help'],
  ['zebra', /^Unknown command "zebra"\.$/, 'svc --help'],
  ['job lsit', /^Unknown verb of svc job: "lsit"\. Did you mean "list"\?$/, 'svc job --help'],
  ['job', /^svc job: expected a verb, one of list, get, /, 'svc job --help'],
  ['job list --limt 3', /^Unknown flag "--limt" of svc job list\. Did you mean "--limit"\?$/, 'svc job list --help'],
  ['job list --limt=3', /^Unknown flag "--limt" of svc job list/, 'svc job list --help'],
  ['job list -l', /^Unknown flag "-l"/, 'svc job list --help'],
  ['--limit 3 job list', /^Unknown flag "--limit"/, 'svc --help'],
  ['job list --limit', /^--limit: expected a value\.$/, 'svc job list --help'],
  ['job list --state --limit 3', /^--state: expected a value, one of awaiting_approval, /, 'svc job list --help'],
  ['job list --limit 1 --limit 2', /^--limit: given twice\.$/, 'svc job list --help'],
  ['job list --output json --output json', /^--output: given twice\.$/, 'svc job list --help'],
  ['job list --yes=no', /^--yes: this flag takes no value\.$/, 'svc job list --help'],
  ['job list extra', /^svc job list: unexpected argument "extra"\.$/, 'svc job list --help'],
  ['job get', /^svc job get: expected the id\.$/, 'svc job get --help'],
  ['completion', /^svc completion: expected one of bash, zsh, fish\.$/, 'svc completion --help'],
  [
    'token create --name a',
    /^--scope: this flag is required\. Expected one of readonly, operator, approve, host\.$/,
    'svc token create --help',
  ],
  [
    'command run --inventory localhost',
    /^svc command run: expected the words of the command, after --\.$/,
    'svc command run --help',
  ],
  ['workspace plan net --run-secret', /^--run-secret: expected a value\.$/, 'svc workspace plan --help'],
  [
    'workspace plan net --run-secret net/token',
    /^--run-secret: expected VAR=PROJECT\/SECRET\.$/,
    'svc workspace plan --help',
  ],
  [
    'workspace plan net --run-secret =net/token',
    /^--run-secret: expected VAR=PROJECT\/SECRET\.$/,
    'svc workspace plan --help',
  ],
  [
    'workspace plan net --run-secret TOKEN=',
    /^--run-secret: expected VAR=PROJECT\/SECRET\.$/,
    'svc workspace plan --help',
  ],
  [
    'workspace plan net --run-secret T=net/a --run-secret T=net/b',
    /^--run-secret: T is given twice\.$/,
    'svc workspace plan --help',
  ],
  [
    'workspace plan net --run-secret __proto__=net/a --run-secret __proto__=net/b',
    /^--run-secret: __proto__ is given twice\.$/,
    'svc workspace plan --help',
  ],
  [
    'command run --inventory localhost ls -la',
    /^Unknown flag "-la" of svc command run\. Put words that begin with a dash after --\.$/,
    'svc command run --help',
  ],
];

for (const [words, message, hint] of REFUSED) {
  test(`svc ${words}: is refused with words that help`, () => {
    assert.throws(
      () => readArguments(TREE, words.split(' ')),
      (error) =>
        error instanceof UsageFailure &&
        message.test(error.message) &&
        error.code === 'invalid_argument' &&
        error.peopleHint === hint,
    );
  });
}
