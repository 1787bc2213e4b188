import type { ListenAddress } from '../config/settings/listen-address.ts';
import { createStatusFace } from '../faces/status/face.ts';
import { Peers } from '../faces/http/peers.ts';
import { boardReader } from '../operations/checks/status-board.ts';
import type { Listeners } from './run/listeners.ts';

/** The public page about the checks of `--status-check`; null without `--status-addr`. */
export function statusOf({
  base: { store, clock, settings },
  log,
  turns,
}: Listeners): { face: ReturnType<typeof createStatusFace>; at: ListenAddress } | null {
  const { statusAddr: at, statusChecks: checks } = settings;
  if (at === null) return null;
  const names = checks.map(({ name }) => name);
  const read = boardReader(store, clock, names);
  const face = createStatusFace({ clock, log, peers: new Peers(settings.trustedProxy), turns, checks, read });
  return { face, at };
}
