import { isDaemonLocked } from '../../store/engine/instance-lock.ts';
import { readLiveness } from '../../store/maintenance/gone.ts';
import { startProblem } from '../../domain/new-program.ts';
import { isCordoned, listNodeCordons } from '../../store/maintenance/cordon.ts';
import { listExecuting } from '../../store/maintenance/restarts.ts';
import { awaitedNodes, hasClaimable } from '../../store/jobs/jobs.ts';
import type { Db } from '../../store/schema/schema.ts';
import { type Facts, type Finding, named, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Finds the jobs that any daemon may claim. */
const NO_DAEMON = '';

/**
 * Reports lost jobs, restarts whose new program has not started, jobs that wait for a daemon that does not run,
 * cordons, and daemons that are gone.
 */
export function examineDaemons({ openedStore, paths, here, clock }: Facts): Promise<Finding> {
  return withStore(openedStore, async (store) => {
    const { alive, nodes, gone, lost } = await readLiveness(store, (id) => isDaemonLocked(paths.instances, id));
    if (lost.length > 0) {
      const jobs = named(lost.map(({ id, node }) => `${id}${node === null ? '' : ` of ${node}`}`));
      const next = alive > 0 ? 'A daemon marks them' : 'Start svc serve: it marks them';
      return warn(`Recorded as running, but their daemon is gone: ${jobs}. ${next} interrupted; then svc job redrive.`);
    }
    const [executing] = (await listExecuting(store.db)).flatMap((each) => {
      const problem = startProblem(each, here, clock.now());
      return problem === null ? [] : [{ node: each.node, ...problem }];
    });
    if (executing !== undefined) return warn(`Restart in place of ${executing.node}: ${executing.words}.`);
    const awaited = await awaitedNodes(store.db);
    if (alive === 0 && (awaited.length > 0 || (await hasClaimable(store.db, NO_DAEMON))))
      return warn('No daemon runs, and jobs wait: start svc serve.');
    const away = awaited.filter(({ node }) => !nodes.has(node));
    if (away.length > 0) {
      const waiting = named(away.map(({ node, jobs }) => `${node} (${jobs === 1 ? '1 job' : `${jobs} jobs`})`));
      return warn(`Jobs wait for a daemon that does not run: ${waiting}. Start it, or cancel them: svc job cancel.`);
    }
    const faults = [...(await cordons(store.db)), ...endedDaemons(gone)];
    if (faults.length > 0) return warn(faults.join(' '));
    return ok(alive === 0 ? 'No daemon runs, and no job waits.' : `Daemons that run: ${alive}.`);
  });
}

async function cordons(db: Db): Promise<string[]> {
  if (await isCordoned(db))
    return ['The service is cordoned: no job starts. Lift the cordon with: svc maintenance uncordon.'];
  const cordoned = await listNodeCordons(db);
  if (cordoned.length === 0) return [];
  return [`Cordoned, so that no job starts there: ${named(cordoned)}. Lift it: svc maintenance uncordon --node NODE.`];
}

function endedDaemons(gone: ReadonlySet<string>): string[] {
  if (gone.size === 0) return [];
  return [`Ended without stopping in order: ${named([...gone])}. Start svc serve again, which cleans up.`];
}
