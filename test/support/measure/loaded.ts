import { registerHooks } from 'node:module';
import type { TestContext } from 'node:test';

/** The URLs of the modules that this process asks for from now on, until the test ends; the list grows. */
export function watchLoaded(t: TestContext): readonly string[] {
  const loaded: string[] = [];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      loaded.push(found.url);
      return found;
    },
  });
  t.after(() => hooks.deregister());
  return loaded;
}
