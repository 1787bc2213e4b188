import { running } from '../world/current.ts';

/** The same value; a function or class throws when a daemon calls it. */
export function denied(what: string, value: unknown): unknown {
  if (typeof value !== 'function') return value;
  const refuse = (): void => {
    if (running() !== null) throw new Error(`${what} is not simulated`);
  };
  return new Proxy(value, {
    apply(target, self, args) {
      refuse();
      return Reflect.apply(target as (...all: unknown[]) => unknown, self, args);
    },
    construct(target, args, made) {
      refuse();
      return Reflect.construct(target, args, made) as object;
    },
  });
}
