import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Fields } from './arguments.ts';
import type { Session } from './session.ts';
import { write } from './terminal.ts';
import { UsageFailure } from './usage.ts';

const HELP = 'svc secret set --help';

/** More is no value of ours, and is not read further; the operation says how much is. One more for the line end. */
const READ_MAX_BYTES = 65_536 + 2;

/**
 * The fields of a secret with its `value` in them, which never stands on a command line: from the file of --file, else from standard input, without the one line end that
 * an editor or echo leaves. On a terminal it is asked for and not shown. Throws UsageFailure.
 */
export async function withValue(session: Session): Promise<Fields> {
  return { ...session.fields, value: await valueOf(session) };
}

function valueOf(session: Session): Promise<string> {
  const { flags, terminal, options, verb } = session;
  const file = flags['file'];
  if (file !== undefined && file !== '-') return read(createReadStream(file), '--file');
  if (terminal.stdin.isTTY !== true) return read(terminal.stdin, 'standard input');
  if (options.noInput) throw new UsageFailure(`svc ${verb.path}: the value comes from standard input or --file.`, HELP);
  return ask(session);
}

async function read(stream: Readable, from: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk as Uint8Array);
      chunks.push(bytes);
      size += bytes.length;
      if (size > READ_MAX_BYTES) break;
    }
  } catch (error) {
    throw new UsageFailure(`${from}: ${error instanceof Error ? error.message : 'can not be read'}.`, HELP);
  }
  return text(Buffer.concat(chunks).subarray(0, READ_MAX_BYTES + 1), size > READ_MAX_BYTES, from).replace(/\r?\n$/, '');
}

/** Bytes that are no text could not be told apart from what replaces them. A cut in the middle of a character is no fault of theirs. */
function text(bytes: Uint8Array, isCut: boolean, from: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    throw new UsageFailure(`${from}: the value is no UTF-8 text; encode it first, for example with base64.`, HELP);
  }
}

/** One line, typed or pasted. The terminal is in raw mode meanwhile, and what readline would echo goes nowhere. */
async function ask({ terminal, fields, verb }: Session): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([import('node:readline'), import('node:stream')]);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await write(terminal.stderr, `Value of ${String(fields['secret'])}, one line, not shown: `);
  const reader = createInterface({ input: terminal.stdin, output: nowhere, terminal: true, historySize: 0 });
  const line = await new Promise<string | null>((resolve) => {
    reader.once('line', resolve);
    reader.once('SIGINT', () => resolve(null));
    reader.once('close', () => resolve(null));
  });
  reader.close();
  await write(terminal.stderr, '\n');
  if (line === null) throw new UsageFailure(`svc ${verb.path}: no value was given, nothing was done.`, HELP);
  return line;
}
