import { line } from '../../text/safe.ts';
import type { Session } from '../connection/session.ts';

/** After a probe: which process made it, because its settings decide, and the daemon may have others. */
export function mentionProber({ client, options, terminal }: Session): void {
  if (client.settings === undefined) {
    terminal.stderr.write(line(`Probed by the daemon at ${options.remote}, with its settings.`));
    return;
  }
  const { checkCaFile, checkRefuseOwn } = client.settings;
  const ca = checkCaFile === null ? 'without --check-ca-file' : `with --check-ca-file ${checkCaFile}`;
  const own = checkRefuseOwn ? 'with' : 'without';
  terminal.stderr.write(
    line(`Probed by this command, ${ca} and ${own} --check-refuse-own-addresses; the daemon uses its own settings.`),
  );
}
