import { processEnvironment } from '../config/settings/settings.ts';
import { closedPath } from '../lib/programs/search-path.ts';
import { DEFAULT_PATH } from '../runners/process/environment.ts';

/** The PATH of this process without the folders in which other accounts can put a program. */
export function ownSearchPath(): string {
  return closedPath(processEnvironment()['PATH'] ?? DEFAULT_PATH);
}
