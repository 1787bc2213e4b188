import { IMPORTERS } from './import/importers.ts';
import { writeConfigFile } from '../../../operations/configuration/write-file.ts';
import { line } from '../../text/safe.ts';
import type { ProgramSession } from '../connection/session.ts';
import { print } from '../print.ts';
import { withFile } from '../syntax/value-input.ts';
import { UsageFailure } from '../syntax/usage.ts';
import { write } from '../terminal.ts';

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
  const { checks, schedules, notes } = await importer(String(file));
  const text = await writeConfigFile(null, { checks, schedules });
  const { terminal, options } = session;
  if (options.output === 'text') await write(terminal.stderr, notes.map((note) => line(note)).join(''));
  return print(session, 'config.imported', { text, notes }, () => text);
}
