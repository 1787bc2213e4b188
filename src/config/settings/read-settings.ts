import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { Setting } from './setting-values.ts';
import { type Environment, environmentTwin, type Settings, SETTINGS } from './settings.ts';

function defaultDataDir(env: Environment): string {
  const share = env['XDG_DATA_HOME'];
  return join(share === undefined || share === '' ? join(homedir(), '.local', 'share') : share, 'gatehouse');
}

function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/**
 * Reads every setting; `file` has those of the settings file by their flags. Empty text counts as absent. Throws
 * invalid_argument that names the flag.
 */
export function readSettings(flags: Environment, env: Environment, file: Environment = {}): Settings {
  const values: Record<string, unknown> = {};
  const rows: readonly [string, Setting<unknown>][] = Object.entries(SETTINGS);
  for (const [key, row] of rows) {
    const flag = given(flags[row.flag]);
    if (flag !== undefined && row.secret?.isIn(flag) === true) {
      throw new Failure('invalid_argument', `--${row.flag}: ${row.secret.what}; ${row.secret.ways}.`);
    }
    values[key] = row.read(flag ?? given(env[environmentTwin(row.flag)]) ?? file[row.flag]);
  }
  values['dataDir'] ??= defaultDataDir(env);
  return values as unknown as Settings;
}
