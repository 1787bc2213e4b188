import { readConfigFile } from '../../../domain/configuration/file.ts';
import { Failure } from '../../../domain/failure.ts';
import { IMPORTERS } from './import/importers.ts';
import { SECTION_NAMES } from '../../../operations/areas.ts';
import { writeConfigFile } from '../../../operations/configuration/write-file.ts';
import { line } from '../../text/safe.ts';
import type { ProgramSession } from '../connection/session.ts';
import { print } from '../print.ts';
import { withFile } from '../input/value-input.ts';
import { UsageFailure } from '../syntax/usage.ts';
import { write } from '../terminal.ts';

/** What `svc config apply` says of the whole file, such as that it has too many lines. */
async function refusals(text: string): Promise<string[]> {
  try {
    await readConfigFile(text, SECTION_NAMES);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [`svc config apply refuses this file: ${error.message}`];
  }
}

/** `svc config import`: the file on standard output, what was not carried over on standard error. */
export async function configImport(session: ProgramSession): Promise<number> {
  const from = String(session.fields['from']);
  const importer = Object.hasOwn(IMPORTERS, from) ? IMPORTERS[from] : undefined;
  if (importer === undefined)
    throw new UsageFailure(
      `svc config import: expected one of ${Object.keys(IMPORTERS).join(', ')}.`,
      'svc config import --help',
    );
  const { file } = await withFile(session, 'file');
  const { terminal, options } = session;
  const { checks, schedules, notes: found } = await importer(String(file), terminal.clock.now());
  const text = await writeConfigFile(null, { checks, schedules });
  const notes = [...found, ...(await refusals(text))];
  if (options.output === 'text') await write(terminal.stderr, notes.map((note) => line(note)).join(''));
  return print(session, 'config.imported', { text, notes }, () => text);
}
