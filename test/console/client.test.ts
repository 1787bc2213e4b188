/** Parts of the script of the console that need no browser. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { array, assert as holds, nat, property, record, string } from 'fast-check';
import { EventReader } from '../../src/faces/web/client/event-stream.ts';
import { joinedScript } from '../../src/faces/console/joined-script.ts';
import { logLine } from '../../src/faces/areas/jobs/log/log-line.ts';

test('Events are read from parts of any length, and comments are left out', () => {
  const event = record({ name: string({ minLength: 1 }).map((name) => JSON.stringify(name)), text: string() });
  holds(
    property(array(event), array(nat(40)), (events, cuts) => {
      const stream = events.map(
        ({ name, text }, id) => `: still here\n\nid: ${id}\nevent: ${name}\ndata: ${JSON.stringify(text)}\n\n`,
      );
      let rest = stream.join('');
      const reader = new EventReader();
      const read = cuts.flatMap((cut) => {
        const part = rest.slice(0, cut);
        rest = rest.slice(cut);
        return reader.read(part);
      });
      read.push(...reader.read(rest));
      assert.deepEqual(
        read,
        events.map(({ name, text }) => ({ name, data: JSON.stringify(text) })),
      );
    }),
  );
});

test('An event that does not end is given up', () => {
  const reader = new EventReader();
  const part = `data: ${'x'.repeat(4_194_304)}`;
  assert.throws(() => {
    for (let i = 0; i < 5; i += 1) reader.read(part);
  }, RangeError);
});

test('Modules are joined after those that they import, each once, and names do not meet', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-script-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const write = (name: string, ...lines: readonly string[]): string => {
    writeFileSync(join(dir, name), lines.join('\n'));
    return join(dir, name);
  };
  write('base.ts', 'const own = 1;', '/** Counts. */', 'export const made: number[] = [own];');
  const add = ['export function add(n: number): void {', '  made.push(n + own);', '}'];
  write('part.ts', "import { made } from './base.ts';", 'const own = 2;', ...add);
  const imports = ["import { made as all } from './base.ts';", "import { add, type Kind } from './part.ts';"];
  const script = joinedScript(write('main.ts', ...imports, 'add(3);', 'console.log(all.join());'));
  assert.doesNotMatch(script, /import|export|Counts/);
  const { stdout } = spawnSync(process.execPath, [write('joined.js', script)]);
  assert.equal(stdout.toString(), '1,5\n');
});

function dressOf(text: string): string {
  return logLine({ seq: 1, type: 'log', stream: 'stdout', text, at: '' }).dress;
}

test('Lines that begin a play, a task or a phase are headings, and lines of a tool that waits are known', () => {
  for (const text of [
    'PLAY [all] ****',
    '\u001b[1mTASK [install : packages] ***\u001b[0m',
    'RUNNING HANDLER [restart]',
    'PLAY RECAP ****',
    '\u001b[0m\u001b[1mInitializing the backend...',
    'OpenTofu will perform the following actions:',
    '\u001b[1mPlan:\u001b[0m 1 to add, 0 to change, 0 to destroy.',
    '\u001b[32mApply complete! Resources: 1 added.',
  ])
    assert.equal(dressOf(text), 'group', text);
  for (const text of [
    '\u001b[1mhcloud_server.a: Refreshing state... [id=1]',
    'data.http.x: Reading...',
    'data.http.x: Read complete after 0s [id=1]',
    'hcloud_server.a: Still creating... [10s elapsed]',
  ])
    assert.equal(dressOf(text), 'noise', text);
  for (const text of [
    'ok: [edge-1]',
    'the PLAY [all]',
    'INFO [x]',
    'I am Reading',
    'hcloud_server.a: Creation complete',
  ])
    assert.equal(dressOf(text), '', text);
});
