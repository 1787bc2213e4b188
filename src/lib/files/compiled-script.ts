import { readFileSync } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { writeFileAtomic } from '../atomic-file.ts';
import type { ScriptFiles } from './script-files.ts';

/** At the end of the compiled form: V8 checks its version, its flags and the length of the text, and no content. */
const CRC_BYTES = 4;

/** Compiled forms that are kept for scripts of one name; 2.8 MB each. */
const KEPT_MAX = 4;

/** A script whose compiled form is kept, with all functions that were called before. */
export interface CompiledScript {
  /** Runs it; answers the value of its last expression. */
  run(): unknown;
  /** Keeps the compiled form for later processes, unless it was kept. Holds the event loop for some 50 ms. */
  keep(): Promise<void>;
}

/**
 * Opens a script of this program, in ASCII characters. The cache that Node fills by itself has only what is compiled
 * before anything runs: what is compiled when it is first called is compiled again at each start. Rejects with the
 * system's error without the script, and with SyntaxError.
 */
export async function openScript({ file, kept, ...files }: ScriptFiles): Promise<CompiledScript> {
  const bytes = (await files.text) ?? readFileSync(file);
  const checksum = crc32(bytes);
  const cachedData = dataOf(await files.compiled, checksum);
  const script = new Script(bytes.toString('latin1'), {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === null ? {} : { cachedData }),
  });
  const isKept = cachedData !== null && script.cachedDataRejected === false;
  return {
    run: () => script.runInThisContext() as unknown,
    async keep() {
      if (kept === null || isKept) return;
      const data = script.createCachedData();
      await writeFileAtomic(kept, withCrc(data, checksum), 0o600);
      await removeOldest(dirname(kept), `${basename(file)}-`);
    },
  };
}

/** Null without a whole one of this text. */
function dataOf(content: Buffer | null, checksum: number): Buffer | null {
  if (content === null || content.length < CRC_BYTES) return null;
  const data = content.subarray(0, -CRC_BYTES);
  return content.readUInt32LE(data.length) === crc32(data, checksum) ? data : null;
}

/** With the checksum of the text and the data, in this order. */
function withCrc(data: Buffer, checksum: number): Buffer {
  const crc = Buffer.alloc(CRC_BYTES);
  crc.writeUInt32LE(crc32(data, checksum));
  return Buffer.concat([data, crc]);
}

async function removeOldest(folder: string, prefix: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.startsWith(prefix)).map((name) => join(folder, name));
  const dated = await Promise.all(files.map(async (file) => ({ file, at: (await stat(file)).mtimeMs })));
  const oldest = dated.toSorted((a, b) => b.at - a.at).slice(KEPT_MAX);
  await Promise.all(oldest.map(({ file }) => unlink(file)));
}
