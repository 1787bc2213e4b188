import { promisify } from 'node:util';
import { running, theWorld } from '../world/current.ts';

/** The same value; a function or class throws when a daemon calls it. */
export function denied(what: string, value: unknown): unknown {
  if (typeof value !== 'function') return value;
  const refuse = (): void => {
    if (running() === null) return;
    theWorld().onDenied(what);
    throw new Error(`${what} is not simulated`);
  };
  // Around a function that is not `value`: of that one, what promisify takes in its place may not be hidden.
  return new Proxy(function () {}, {
    get: (_target, key) => (key === promisify.custom ? undefined : (Reflect.get(value, key) as unknown)),
    apply(_target, self, args) {
      refuse();
      return Reflect.apply(value as (...all: unknown[]) => unknown, self, args);
    },
    construct(_target, args, made) {
      refuse();
      return Reflect.construct(value, args, made) as object;
    },
  });
}
