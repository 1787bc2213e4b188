import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { openScript } from './compiled-script.ts';
import { readScriptFiles } from './script-files.ts';

const FUNCTIONS = 200;
/** Its value is a function that calls many others, with `last` as the result. */
const textOf = (last: string): string =>
  `(function(){${Array.from({ length: FUNCTIONS }, (_, n) => `function f${n}(a){return a+${n}*a}`).join(';')};` +
  `return {all(){return (${Array.from({ length: FUNCTIONS }, (_, n) => `f${n}(2)`).join('+')})*0+${last}}}})()`;

function place(t: TestContext): { readonly dir: string; readonly file: string; readonly kept: () => string[] } {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-script-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return { dir, file: join(dir, 'program.js'), kept: () => readdirSync(dir).filter((name) => name !== 'program.js') };
}

const open = (file: string, dir: string) => openScript(readScriptFiles(file, dir));

async function run(file: string, dir: string) {
  const script = await open(file, dir);
  return { script, value: (script.run() as { all(): number }).all() };
}

suite('a script whose compiled form is kept', () => {
  test('what was called is in it, and it is written once', async (t) => {
    const { dir, file, kept } = place(t);
    writeFileSync(file, textOf('1'));
    const early = await open(file, dir);
    await early.keep();
    const [name = ''] = kept();
    const small = statSync(join(dir, name)).size;
    rmSync(join(dir, name));

    const first = await run(file, dir);
    assert.equal(first.value, 1);
    await first.script.keep();
    assert.deepEqual(kept(), [name]);
    const { size, ino } = statSync(join(dir, name));
    assert.ok(size > 1.5 * small, `${size} bytes after the calls, ${small} before`);

    const second = await run(file, dir);
    assert.equal(second.value, 1);
    await second.script.keep();
    assert.equal(statSync(join(dir, name)).ino, ino, 'it was taken, so it is not written again');
  });

  test('another text of the same length does not take it, and has its place then', async (t) => {
    const { dir, file, kept } = place(t);
    for (const build of [1, 2]) {
      writeFileSync(file, textOf(String(build)));
      const { script, value } = await run(file, dir);
      assert.equal(value, build);
      await script.keep();
      const [name = '', ...more] = kept();
      assert.deepEqual(more, []);
      const { ino } = statSync(join(dir, name));
      await (await run(file, dir)).script.keep();
      assert.equal(statSync(join(dir, name)).ino, ino, 'it is that of this text');
    }
  });

  test('a copy of the script elsewhere, of another time, takes it', async (t) => {
    const { dir, file, kept } = place(t);
    writeFileSync(file, textOf('1'));
    await (await run(file, dir)).script.keep();
    const [name = ''] = kept();
    const { ino } = statSync(join(dir, name));
    const elsewhere = place(t);
    writeFileSync(elsewhere.file, textOf('1'));
    utimesSync(elsewhere.file, 1, 1);
    const { script, value } = await run(elsewhere.file, dir);
    assert.equal(value, 1);
    await script.keep();
    assert.equal(statSync(join(dir, name)).ino, ino);
  });

  test('half a file, a changed one and an empty one are replaced', async (t) => {
    const { dir, file, kept } = place(t);
    writeFileSync(file, textOf('1'));
    await (await run(file, dir)).script.keep();
    const [name = ''] = kept();
    const whole = readFileSync(join(dir, name));
    const changed = Buffer.from(whole);
    changed[whole.length >> 1] = (changed[whole.length >> 1] ?? 0) ^ 0xff;
    for (const bad of [whole.subarray(0, whole.length >> 1), changed, Buffer.alloc(0), Buffer.alloc(3)]) {
      writeFileSync(join(dir, name), bad);
      const { script, value } = await run(file, dir);
      assert.equal(value, 1);
      await script.keep();
      const after = statSync(join(dir, name)).size;
      assert.ok(Math.abs(after - whole.length) < whole.length / 10, `${after} bytes in place of ${whole.length}`);
      assert.equal((await run(file, dir)).value, 1);
    }
  });

  test('of many builds the newest four are kept', async (t) => {
    const { dir, file, kept } = place(t);
    for (let build = 1; build <= 6; build += 1) {
      writeFileSync(file, `${textOf(String(build))}${' '.repeat(build)}`);
      await (await run(file, dir)).script.keep();
      // As if they were made an hour apart.
      for (const name of kept()) {
        const at = statSync(join(dir, name)).mtimeMs / 1000 - 3_600;
        utimesSync(join(dir, name), at, at);
      }
    }
    assert.equal(kept().length, 4);
    const { script } = await run(file, dir);
    const before = kept();
    await script.keep();
    assert.deepEqual(kept(), before, 'that of the last build is among them');
  });

  test('it runs where nothing can be kept', async (t) => {
    const { dir, file } = place(t);
    writeFileSync(file, textOf('1'));
    const { script, value } = await run(file, join(dir, 'missing'));
    assert.equal(value, 1);
    await assert.rejects(script.keep(), { code: 'ENOENT' });
    const unread = { ...readScriptFiles(file, dir), text: Promise.resolve(null), compiled: Promise.resolve(null) };
    assert.equal(((await openScript(unread)).run() as { all(): number }).all(), 1, 'what could not be read ahead');
    writeFileSync(file, 'let broken = ;');
    await assert.rejects(open(file, dir), SyntaxError);
    rmSync(file);
    assert.throws(() => readScriptFiles(file, dir), { code: 'ENOENT' });
  });
});
