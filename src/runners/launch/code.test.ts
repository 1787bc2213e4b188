import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { MUSL, needs } from '../../../test/support/tools.ts';
import { C_FUNCTIONS } from '../sandbox/kernel/system-call.ts';
import { machineCode } from './code.ts';

const SOURCES = join(import.meta.dirname, 'code');

describe('the machine code', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-code-'));
  after(() => rmSync(dir, { recursive: true }));

  function assembled(arch: string, prefix: string): Buffer {
    const [object, binary] = [join(dir, `${arch}.o`), join(dir, `${arch}.bin`)];
    execFileSync(`${prefix}as`, ['-o', object, join(SOURCES, `${arch}.S`)]);
    execFileSync(`${prefix}objcopy`, ['-O', 'binary', '-j', '.text', object, binary]);
    return readFileSync(binary);
  }

  it('of x64 is what its source says', { skip: needs('x86_64-linux-gnu-as') }, () => {
    assert.deepEqual(machineCode('x64'), assembled('x64', 'x86_64-linux-gnu-'));
  });

  it('of arm64 is what its source says', { skip: needs('aarch64-linux-gnu-as') }, () => {
    assert.deepEqual(machineCode('arm64'), assembled('arm64', 'aarch64-linux-gnu-'));
  });

  it('is started by functions that musl has too', { skip: needs('musl', 'x86_64-linux-gnu-as') }, () => {
    const symbols = execFileSync('nm', ['--dynamic', '--defined-only', MUSL ?? assert.fail()], { encoding: 'utf8' });
    for (const name of C_FUNCTIONS) assert.match(symbols, new RegExp(` ${name}$`, 'm'));
  });

  it('is not there for another processor', () => {
    assert.equal(machineCode('riscv64'), null);
  });

  /** A program of the code and a list: writes a word, continues after two allowed errors, and ends at the third. */
  const ARM64_PROGRAM = `
    .global _start
    _start:
      adr x0, list
    .incbin "${dir}/arm64.bin"
    .align 3
    list:
      .quad 64, 1, word, 5, 0, 0, 0, 0
      .quad 57, 99, 0, 0, 0, 0, 0, 1 << 9
      .quad 57, 2, 0, 0, 0, 0, 0, 1
      .quad 64, 1, word, 4, 0, 0, 0, 0
      .quad 57, 99, 0, 0, 0, 0, 0, 1
      .quad 64, 1, word, 5, 0, 0, 0, 0
    word: .ascii "word\\n"
  `;

  it(
    'of arm64 continues after the results that a record names, and ends at another',
    { skip: needs('aarch64-linux-gnu-as', 'qemu-aarch64') },
    () => {
      const [source, object, program] = ['p.S', 'p.o', 'p'].map((name) => join(dir, name)) as [string, string, string];
      writeFileSync(join(dir, 'arm64.bin'), machineCode('arm64') ?? assert.fail());
      writeFileSync(source, ARM64_PROGRAM);
      execFileSync('aarch64-linux-gnu-as', ['-o', object, source]);
      execFileSync('aarch64-linux-gnu-ld', ['-N', '-o', program, object]);
      assert.throws(
        () => execFileSync('qemu-aarch64', [program], { encoding: 'utf8', stdio: 'pipe' }),
        (error: { status: number; stdout: string }) => {
          assert.deepEqual([error.status, error.stdout], [126, 'word\nword']);
          return true;
        },
      );
    },
  );
});
