/** A daemon that is asked to stop, as by SIGTERM, and what must be true when its process has ended. */
import { Failure } from '../../src/domain/failure.ts';
import { pause } from '../../src/lib/clock.ts';
import type { Node } from './daemon.ts';
import type { Place } from './place.ts';
import { runAs } from './world/current.ts';
import type { Running } from './world/host.ts';

interface Stopping {
  readonly node: Node;
  readonly who: Running;
  /** Its process becomes the new program. */
  readonly isInPlace: boolean;
  /** When it is started again. */
  readonly backMs: number;
}

/** As a service manager waits before it kills. */
const STOP_MS = 90_000;
/** A tool that ignores SIGTERM has ten seconds; the rest are writes. */
const STEADY_MS = 45_000;
const ANSWER = { pauseMs: 50, tries: 100 };

/** The nodes that were asked already. */
const asked = new WeakSet<Node>();

export function stopInOrder(place: Place, stopping: Stopping): void {
  const { node, who, isInPlace, backMs } = stopping;
  const { world, watch } = place;
  if (asked.has(node)) return;
  asked.add(node);
  const beganAt = world.now;
  world.note(`${who.host.name} is asked to stop${isInPlace ? ', and starts again in place' : ''}`);
  const ended = (error: unknown): void => {
    if (!world.lives(who)) return;
    const words = String(error);
    world.note(`${who.host.name} has stopped${error === null ? '' : `: ${words}`}`);
    if (error === null) lookAtStopped(place, stopping);
    else if (!(error instanceof Failure) && !/disk|full/.test(words))
      watch.violated('R3', `${who.host.name} did not stop in order: ${words}`);
    who.host.follows = isInPlace;
    place.end(who.host, backMs);
  };
  runAs(who, () => world.add('stop', 0, () => void stopped(place, stopping).then(() => ended(null), ended)));
  world.later('stop', STEADY_MS, () => {
    const isSteady =
      who.host.stoppedUntil < beganAt &&
      [place.store, ...world.hosts].every(({ machine }) => machine.disk.until < beganAt);
    if (world.lives(who) && isSteady) watch.violated('R4', `${who.host.name} did not stop within ${STEADY_MS} ms`);
  });
  world.later('stop', STOP_MS, () => {
    if (world.lives(who)) place.kill(who.host, backMs);
  });
}

/** As at the end of `svc serve`: the listeners close after the daemon, once what they were asked is answered. */
async function stopped(place: Place, { node, who }: Stopping): Promise<void> {
  await node.daemon.stop();
  place.nodes.delete(who.host);
  for (let left = ANSWER.tries; left > 0 && place.isAwaited(who); left -= 1)
    await pause(place.world.clock(), ANSWER.pauseMs);
  await node.close();
}

/** It leaves nothing that others have to rescue. */
function lookAtStopped({ processes, store, watch }: Place, { node, who }: Stopping): void {
  for (const each of processes.all)
    if (each.isAlive && each.host === who.host && each.life === who.life)
      watch.violated('R1', `${who.host.name} has stopped, and the tool of ${each.jobId} runs`);
  const { id } = node.daemon.who();
  for (const { id: job } of store.rows("select id from jobs where state = 'running' and daemon_id = ?", id))
    watch.violated('R2', `${who.host.name} has stopped, and ${String(job)} is still its own`);
}
