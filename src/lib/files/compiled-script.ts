import { readFileSync } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { writeFileAtomic } from '../atomic-file.ts';

/** At the end of the compiled form: V8 checks its version, flags and length, and not its content. */
const CRC_BYTES = 4;

/** Compiled forms that are kept for one script, one for each build; 3.5 MB each. */
const KEPT_MAX = 4;

/** A script whose compiled form is kept, with all functions that were called before. */
export interface CompiledScript {
  /** Runs it; answers the value of its last expression. */
  run(): unknown;
  /** Keeps the compiled form for later processes, unless it was kept. Holds the event loop for some 50 ms. */
  keep(): Promise<void>;
}

/**
 * Opens a script of this program, in ASCII characters. Its compiled form is in the folder of the compile cache, which
 * belongs to this user, this version of Node and its flags. The cache that Node fills by itself has only what is
 * compiled before anything runs: what is compiled when it is first called is compiled again at each start. Throws the
 * system's error without the script, and SyntaxError.
 */
export function openScript(file: string, folder = getCompileCacheDir()): CompiledScript {
  const text = readFileSync(file, 'latin1');
  // V8 compares no more of the text than its length.
  const name = `${basename(file)}-${crc32(text, 0).toString(16)}`;
  const kept = folder === undefined ? null : join(folder, name);
  const cachedData = kept === null ? undefined : readKept(kept);
  const script = new Script(text, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const isKept = cachedData !== undefined && script.cachedDataRejected === false;
  return {
    run: () => script.runInThisContext() as unknown,
    async keep() {
      if (kept === null || isKept) return;
      const data = script.createCachedData();
      await writeFileAtomic(kept, withCrc(data), 0o600);
      await removeOldest(dirname(kept), `${basename(file)}-`);
    },
  };
}

/** Undefined without a whole one. */
function readKept(file: string): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const data = content.subarray(0, -CRC_BYTES);
    return content.readUInt32LE(data.length) === crc32(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

function withCrc(data: Buffer): Buffer {
  const crc = Buffer.alloc(CRC_BYTES);
  crc.writeUInt32LE(crc32(data));
  return Buffer.concat([data, crc]);
}

async function removeOldest(folder: string, prefix: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.startsWith(prefix)).map((name) => join(folder, name));
  const dated = await Promise.all(files.map(async (file) => ({ file, at: (await stat(file)).mtimeMs })));
  const oldest = dated.toSorted((a, b) => b.at - a.at).slice(KEPT_MAX);
  await Promise.all(oldest.map(({ file }) => unlink(file)));
}
