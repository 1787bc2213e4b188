/** The arguments of the programs that package.json starts: `--help` prints their usage, and a wrong one is refused. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { errorCode } from '../src/lib/error-code.ts';

const EXIT_WRONG = 2;

/** The message is a sentence. */
export class WrongArgument extends Error {}

type Read<O extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>;

/** Those of this process. Ends it where they ask for its usage, which is a command line, or where one is wrong. */
export function readArguments<const O extends ParseArgsOptionsConfig>(
  usage: string,
  options: O,
  allowPositionals = false,
): Read<O> {
  printUsage(usage);
  // "--" is for npm, which does not hand it on. Written without npm, it means the same.
  const args = process.argv.slice(2).filter((arg) => arg !== '--');
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    if (!(error instanceof Error) || errorCode(error)?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    // What follows the first sentence is about writing a value that begins with a dash.
    return refuseArgument(`${error.message.split('. ')[0] ?? ''}.`, usage);
  }
}

/** Ends the process with its usage where its arguments ask for that. */
export function printUsage(usage: string): void {
  if (!process.argv.slice(2).includes('--help')) return;
  process.stdout.write(`Usage: ${usage}\n`);
  process.exit(0);
}

/** Ends the process; the sentence says what is wrong and what is expected. */
export function refuseArgument(sentence: string, usage: string): never {
  process.stderr.write(`${sentence}\nUsage: ${usage}\n`);
  process.exit(EXIT_WRONG);
}
