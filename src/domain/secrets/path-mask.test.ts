import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HiddenFolders, pathForms } from './path-mask.ts';
import { compileSecrets, createRedactor, REDACTED } from './redaction.ts';

const DATA = '/home/ana/.local/share/gatehouse';
const FOLDERS: HiddenFolders = { run: `${DATA}/runs/job_1`, data: [`${DATA}/runs`, DATA] };

function cleaned(pieces: readonly string[], folders: HiddenFolders, secrets: readonly string[] = []): string {
  const cleaner = createRedactor(
    compileSecrets(
      secrets.map((secret) => Buffer.from(secret)),
      pathForms(folders),
    ),
  );
  return Buffer.concat([...pieces.map((piece) => cleaner.push(Buffer.from(piece))), cleaner.end()]).toString();
}

const CASES: readonly (readonly [from: string, to: string])[] = [
  [`${DATA}/runs/job_1`, '[run]'],
  [`PWD=${DATA}/runs/job_1/tree\n`, 'PWD=[run]/tree\n'],
  [`${DATA}/runs/job_1:${DATA}/runs/job_1/bin`, '[run]:[run]/bin'],
  [`EACCES: permission denied, mkdir '${DATA}/runs/job_1'`, "EACCES: permission denied, mkdir '[run]'"],
  [`${DATA}/runs/job_2/x ${DATA}/seal.key ${DATA}`, '[data]/job_2/x [data]/seal.key [data]'],
  [`file://${DATA}/runs/job_1/x`, 'file://[run]/x'],
  [`${DATA}${DATA}/runs/job_1`, '[data][run]'],
  ['/home/ana/.local/share/gate /home/ana', '/home/ana/.local/share/gate /home/ana'],
];

test('The directory of the run and the data directory are shown by a word, wherever the stream is cut', () => {
  for (const [from, to] of CASES) {
    for (let cut = 0; cut <= from.length; cut += 1)
      assert.equal(cleaned([from.slice(0, cut), from.slice(cut)], FOLDERS), to, `${from} cut at ${cut}`);
  }
});

test('A path with characters that JSON or a URL escapes is found in these forms too', () => {
  const run = '/srv/ops "x" ü/runs/job_1';
  const folders = { run, data: ['/srv/ops "x" ü'] };
  assert.equal(cleaned([run], folders), '[run]');
  assert.equal(cleaned([JSON.stringify({ run })], folders), '{"run":"[run]"}');
  assert.equal(cleaned([encodeURI(`file://${run}/a`)], folders), 'file://[run]/a');
});

test('A data directory directly below the root is replaced only where a name follows', () => {
  const folders = { run: '/data/runs/job_1', data: ['/data/runs', '/data'] };
  assert.equal(
    cleaned(['/data/runs/job_1 /data/seal.key /database postgres://h/data'], folders),
    '[run] [data]/seal.key /database postgres://h/data',
  );
});

test('A secret value within a path, and a path within a secret value, are both replaced', () => {
  assert.equal(cleaned([`${DATA}/runs/job_1/x`], FOLDERS, ['ana/.local']), `${REDACTED}/x`);
  assert.equal(cleaned([`${DATA}/runs/job_1/x ${DATA}`], FOLDERS, ['gatehouse', 'job_1']), '[run]/x [data]');
  assert.equal(
    cleaned([`${DATA}/runs/job_1/hunter2 ${DATA}/x`], FOLDERS, [`${DATA}/runs/job_1/hunter2`]),
    `${REDACTED} [data]/x`,
  );
});
