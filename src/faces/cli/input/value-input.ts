import { createReadStream } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { SECRET_BYTES_MAX } from '../../../domain/secrets/secret.ts';
import type { ValueInput } from '../../../operations/core/cli-face.ts';
import type { Fields } from '../syntax/arguments.ts';
import { filled } from '../syntax/field-names.ts';
import { readFault } from '../syntax/read-fault.ts';
import type { Session } from '../connection/session.ts';
import { write } from '../terminal.ts';
import { kebab } from '../syntax/tree.ts';
import { UsageFailure } from '../syntax/usage.ts';

/** Reading stops above this size; the operation then refuses the value. One more for the line end. */
const READ_MAX_BYTES = SECRET_BYTES_MAX + 2;

/** Limit of the file of a field: more than any of these fields takes. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The fields of the session with the given one in them: from the file of --file, else from standard input, without the
 * one line end that an editor or echo adds. A terminal prompts for it and does not show it. Throws UsageFailure.
 */
export async function withValue(session: Session, input: ValueInput): Promise<Fields> {
  const file = session.flags['file'];
  const { field, folderField } = input;
  // A folder of this machine says nothing to another one.
  const isHere = session.options.remote === null && file !== undefined && file !== '-';
  const folder = folderField !== undefined && isHere ? { [folderField]: dirname(resolve(file)) } : {};
  return { ...session.fields, ...folder, [field]: await valueOf(session, input) };
}

/** The fields of the session, with the name of the file replaced by its text. Throws UsageFailure. */
export async function withFile(
  { fields, terminal, verb }: Pick<Session, 'fields' | 'terminal' | 'verb'>,
  field: string,
): Promise<Fields> {
  const file = String(fields[field]);
  const refuse: Refuse = (message) => new UsageFailure(message, `svc ${verb.path} --help`);
  const stream = file === '-' ? terminal.stdin : createReadStream(file);
  const isPositional = verb.positionals.some((each) => each.field === field);
  const from = isPositional ? kebab(field).toUpperCase() : `--${kebab(field)}`;
  const text = await read({ stream, from, file }, { what: 'the file', cure: '', bytesMax: FILE_BYTES_MAX }, refuse);
  return { ...fields, [field]: text };
}

function valueOf(session: Session, input: ValueInput): Promise<string> {
  const { flags, terminal, options, verb } = session;
  const file = flags['file'];
  const refuse: Refuse = (message) => new UsageFailure(message, `svc ${verb.path} --help`);
  if (file !== undefined && file !== '-')
    return read({ stream: createReadStream(file), from: '--file', file }, input, refuse);
  if (terminal.stdin.isTTY !== true || file === '-')
    return read({ stream: terminal.stdin, from: 'standard input', file: '-' }, input, refuse);
  if (options.noInput || input.question === null)
    throw refuse(`svc ${verb.path}: expected ${input.what} on standard input or in --file.`);
  return ask(session, filled(input.question, session.fields), refuse);
}

type Refuse = (message: string) => UsageFailure;

interface Source {
  readonly stream: Readable;
  /** As messages call it. */
  readonly from: string;
  /** Its path; `-` for standard input. */
  readonly file: string;
}

async function read(
  { stream, from, file }: Source,
  input: Pick<ValueInput, 'what' | 'cure' | 'bytesMax'>,
  refuse: Refuse,
): Promise<string> {
  // One more than the operation takes, so that it refuses what is too long.
  const bytesMax = input.bytesMax === undefined ? READ_MAX_BYTES : input.bytesMax + 2;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk as Uint8Array);
      chunks.push(bytes);
      size += bytes.length;
      if (size > bytesMax) break;
    }
  } catch (error) {
    throw refuse(`${from}: ${readFault(file, error)}.`);
  }
  const whole = text(Buffer.concat(chunks).subarray(0, bytesMax + 1), size > bytesMax);
  if (whole === null) throw refuse(`${from}: ${input.what} is not UTF-8 text${input.cure}.`);
  return whole.replace(/\r?\n$/, '');
}

/**
 * Bytes that are not UTF-8 are refused, because a decoder would replace them silently. A character cut at the end of a
 * piece is not an error.
 */
function text(bytes: Uint8Array, isCut: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
}

/** One line, typed or pasted. The terminal is in raw mode, and the echo of readline is discarded. */
async function ask({ terminal, verb }: Session, question: string, refuse: Refuse): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([import('node:readline'), import('node:stream')]);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await write(terminal.stderr, question);
  const reader = createInterface({ input: terminal.stdin, output: nowhere, terminal: true, historySize: 0 });
  const line = await new Promise<string | null>((resolve) => {
    reader.once('line', resolve);
    reader.once('SIGINT', () => resolve(null));
    reader.once('close', () => resolve(null));
  });
  reader.close();
  await write(terminal.stderr, '\n');
  if (line === null) throw refuse(`svc ${verb.path}: no value was given; nothing was done.`);
  return line;
}
