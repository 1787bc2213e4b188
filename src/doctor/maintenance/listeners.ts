import { connect } from 'node:net';
import { fail, type Facts, type Finding, ok } from '../entry.ts';

/** A local listener that does not accept within this time is unhealthy. */
const CONNECT_WITHIN_MS = 1_000;

/** Checks that each listener of this process accepts connections. */
export async function examineListeners(facts: Facts): Promise<Finding> {
  const listeners = facts.listeners();
  if (listeners.length === 0)
    return ok('This process has no listeners; for those of a daemon, run svc doctor --remote URL.');
  const accepting = await Promise.all(listeners.map(({ url }) => accepts(url)));
  const lines = listeners.map(
    ({ name, url }, index) => `${name} ${url}${accepting[index] === true ? '' : ' NOT listening'}`,
  );
  return accepting.every(Boolean) ? ok(`${lines.join(', ')}.`) : fail(`${lines.join(', ')}.`);
}

function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), timeout: CONNECT_WITHIN_MS });
    const end = (accepted: boolean) => (): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });
}
