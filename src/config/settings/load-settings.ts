import { resolve } from 'node:path';
import { completeDatabaseUrl } from '../../domain/database/database-url.ts';
import { Failure } from '../../domain/failure.ts';
import type { YamlValue } from '../../domain/yaml/file.ts';
import { requireClosed, settingsFiles } from './deciding-files.ts';
import { readNotifyFile } from './notify-file.ts';
import { readOperatorFile } from './private-file.ts';
import type { Setting } from './setting-values.ts';
import { readSettings } from './read-settings.ts';
import { environmentTwin, type Environment, type Settings, SETTINGS } from './settings.ts';

type Texts = Readonly<Record<string, string | undefined>>;

/**
 * Every setting: from a flag, else its environment variable, else the file of `--config`, else the default. The targets
 * of `--notify-file` are added to those of `--notify`. Throws invalid_argument that names the flag, or the line; for
 * root also where another account can change one of the files.
 */
export async function loadSettings(flags: Texts, env: Environment): Promise<Settings> {
  const path = flags['config'] ?? env[environmentTwin('config')];
  const file = path === undefined || path === '' ? {} : await readSettingsFile(resolve(path));
  const read = readSettings(flags, env, file);
  const { databaseUrl } = read;
  const settings = { ...read, databaseUrl: databaseUrl === null ? null : completeDatabaseUrl(databaseUrl, env) };
  settingsFiles(settings).forEach(requireClosed);
  return { ...settings, notify: [...settings.notify, ...(await readNotifyFile(settings.notifyFile))] };
}

/** The file of `--config`: YAML, a map of the names of flags to their values, a list for a flag that is repeatable. */
async function readSettingsFile(path: string): Promise<Texts> {
  requireClosed({ flag: 'config', path });
  const { text, requirePrivate } = await readOperatorFile('config', path);
  const { readYaml } = await import('../../domain/yaml/file.ts');
  const file = await readYaml(text).catch((error: unknown) => {
    throw error instanceof Failure ? new Failure(error.code, `--config: ${error.message}`) : error;
  });
  if (file.kind !== 'map') throw refusedAt(file.line, 'expected names of settings and their values');
  const texts: Record<string, string> = {};
  for (const [name, value] of file.fields) {
    const row = Object.values<Setting<unknown>>(SETTINGS).find(({ flag }) => flag === name);
    if (row === undefined || name === 'config') throw refusedAt(value.line, `${JSON.stringify(name)} is no setting`);
    const given = textOf(name, value, row.repeat === true);
    if (row.secret?.isIn(given) === true) requirePrivate();
    texts[name] = given;
  }
  return texts;
}

function textOf(flag: string, value: YamlValue, mayRepeat: boolean): string {
  if (value.kind === 'text' && value.type !== 'null' && value.text !== '') return value.text;
  if (value.kind !== 'list') throw refusedAt(value.line, `${flag}: expected a value`);
  if (!mayRepeat) throw refusedAt(value.line, `${flag}: expected one value`);
  return value.items.map((item) => textOf(flag, item, false)).join('\n');
}

function refusedAt(line: number, why: string): Failure {
  return new Failure('invalid_argument', `--config: line ${line}: ${why}.`);
}
