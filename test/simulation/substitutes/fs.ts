import fs, { type FSWatcher, watch as realWatch, type WatchListener } from 'node:fs';
import { promisify } from 'node:util';
import { running, theWorld } from '../world/current.ts';
import { disown, own } from '../world/descriptors.ts';
import { stepped } from './stepped.ts';
import { sortedEntries } from './stepped-file.ts';

export { default } from 'node:fs';
export * from 'node:fs';
export { createReadStream, createWriteStream } from './backups/streams.ts';

/** Of the log of a database: the world tells of the commits of others, late or never. */
export function watch(path: string, options: object, listener: WatchListener<string>): FSWatcher {
  const host = running()?.host;
  if (host === undefined) return realWatch(path, options, listener);
  host.watchers.add(listener as (kind: string, name: string) => void);
  const close = (): void => void host.watchers.delete(listener as (kind: string, name: string) => void);
  return { on: () => undefined, close } as unknown as FSWatcher;
}

type Callback = (error: Error | null, value?: unknown) => void;

/** A call with a callback: made at once, and answered when the world says. */
function called(
  name: 'close' | 'fstat' | 'open' | 'readlink' | 'stat',
  real: (...args: never[]) => void,
): (...args: unknown[]) => void {
  return (...args) => {
    if (running() === null) return real(...(args as never[]));
    const done = args.at(-1) as Callback;
    let answer: Parameters<Callback>;
    try {
      answer = [null, (fs[`${name}Sync`] as (...all: unknown[]) => unknown)(...args.slice(0, -1))];
    } catch (error) {
      answer = [error as Error];
    }
    if (name === 'open' && answer[0] === null) own(answer[1] as number);
    if (name === 'close') disown(args[0] as number);
    theWorld().add('file', 0, () => done(...answer));
  };
}

/** Those of a daemon are closed when it is killed. */
export function openSync(...order: Parameters<typeof fs.openSync>): number {
  const fd = fs.openSync(...order);
  return running() === null ? fd : own(fd);
}

export function closeSync(fd: number): void {
  disown(fd);
  fs.closeSync(fd);
}

/** As util.promisify makes them: the count with the buffer. */
function counted(name: 'read' | 'write', count: string, real: object): object {
  const sync = fs[`${name}Sync`] as (fd: number, buffer: unknown, ...more: unknown[]) => number;
  return Object.assign((...args: unknown[]) => (real as (...all: unknown[]) => void)(...args), {
    [promisify.custom]: (fd: number, buffer: unknown, ...more: unknown[]) =>
      stepped(() => ({ [count]: sync(fd, buffer, ...more), buffer })),
  });
}

export const read = counted('read', 'bytesRead', fs.read);
export const write = counted('write', 'bytesWritten', fs.write);
export const close = called('close', fs.close);
export const fstat = called('fstat', fs.fstat);
export const open = called('open', fs.open);
export const readlink = called('readlink', fs.readlink);
export const stat = called('stat', fs.stat);

/** Sorted: the order of a folder is that of its file system. */
export function readdirSync(path: string, options?: object): unknown {
  return sortedEntries(fs.readdirSync(path, options as never));
}
