/** strace, which lets calls fail and writes calls down. */
import { spawnSync } from 'node:child_process';

/** Where a process may not trace another one there is nothing to do this with. In CI that is a failure. */
export const LACKS_STRACE =
  works() || process.env['CI'] !== undefined ? false : 'strace is missing, or may not trace here';

function works(): boolean {
  const probe = ['-f', '-e', 'inject=fsync:error=EIO:when=99', process.execPath, '--version'];
  return spawnSync('strace', probe, { stdio: 'ignore' }).status === 0;
}
