import { fail, type Facts, type Finding, ok, unknown } from './entry.ts';

/** Every listener that this process should have accepts connections. */
export async function examineListeners(facts: Facts): Promise<Finding> {
  const listeners = facts.listeners();
  if (listeners.length === 0) return unknown('This process serves nothing; ask the daemon.');
  const lines = listeners.map(({ name, url, listening }) => `${name} ${url}${listening ? '' : ' NOT listening'}`);
  const detail = `${lines.join(', ')}.`;
  return listeners.every((each) => each.listening) ? ok(detail) : fail(detail);
}
