/**
 * What daemons of a world get in place of modules with real time, chance, threads and files. It is registered before
 * any module of the product is loaded. A module of Node that reaches out of the process and has no row is denied: it
 * throws when a daemon uses it.
 */
import { type LoadHookSync, registerHooks, type ResolveHookSync } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { deniedSource } from './denied.ts';

const SRC = `${pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src')).href}/`;
const HERE = (name: string): string => new URL(`./${name}.ts`, import.meta.url).href;
const DENIED = 'denied:';

/** By their path below `src`. */
const OF_PRODUCT: Readonly<Record<string, string>> = {
  'lib/clock.ts': HERE('clock'),
  'lib/random.ts': HERE('random'),
  'lib/id.ts': HERE('id'),
  'lib/boot-id.ts': HERE('boot-id'),
  'config/job-account.ts': HERE('runs/job-account'),
  'config/program/digest.ts': HERE('runs/digest'),
  'lib/flow/event-batch.ts': HERE('event-batch'),
  'lib/invariants/invariants.ts': HERE('process/invariants'),
  'lib/programs/find-program.ts': HERE('backups/find-program'),
  'lib/chunks/frame-compressor.ts': HERE('frame-compressor'),
  'operations/access/token-hash.ts': HERE('token-hash'),
  'probes/kinds/tcp.ts': HERE('probes/tcp'),
  'runners/process/tree.ts': HERE('tree'),
  'runners/checkout/git/git.ts': HERE('runs/git'),
  'runners/checkout/open-tree.ts': HERE('runs/open-tree'),
  'runners/ansible/tool.ts': HERE('runs/find-ansible'),
  'runners/terraform/tool.ts': HERE('runs/find-tool'),
  'store/engine/instance-lock.ts': HERE('process/instance-lock'),
};

/** Of Node and packages, where the product imports them. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  'node:fs': HERE('fs'),
  'node:fs/promises': HERE('fs-promises'),
  'node:os': HERE('os'),
  'node:sqlite': HERE('sqlite'),
  'node:timers/promises': HERE('timers'),
  'node:worker_threads': HERE('worker-threads'),
  'node:zlib': HERE('runs/zlib'),
  pg: HERE('pg'),
};

const DENIED_MODULES = [
  'node:child_process',
  'node:dgram',
  'node:dns/promises',
  'node:ffi',
  'node:http',
  'node:https',
  'node:net',
  'node:tls',
];

const substituteOf: ResolveHookSync = (specifier, context, next) => {
  const parent = context.parentURL ?? '';
  if (parent.startsWith(SRC)) {
    const ours = OF_OTHERS[specifier];
    if (ours !== undefined) return { url: ours, shortCircuit: true };
    if (DENIED_MODULES.includes(specifier)) return { url: `${DENIED}${specifier}`, shortCircuit: true };
  }
  const found = next(specifier, context);
  const ours = found.url.startsWith(SRC) ? OF_PRODUCT[found.url.slice(SRC.length)] : undefined;
  // The substitute has the rest from the module that it replaces.
  return ours === undefined || ours === parent ? found : { url: ours, shortCircuit: true };
};

const sourceOf: LoadHookSync = (url, context, next) => {
  if (!url.startsWith(DENIED)) return next(url, context);
  const source = deniedSource(url.slice(DENIED.length), HERE('deny'));
  return { format: 'module', source, shortCircuit: true };
};

/** For the life of the process. */
export function registerSubstitutes(): void {
  registerHooks({ resolve: substituteOf, load: sourceOf });
}
