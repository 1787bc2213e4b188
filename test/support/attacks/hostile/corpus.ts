/** For tests: repositories of somebody who wants more than to be read, and what is to become of each. */
import { join } from 'node:path';
import { Objects } from './objects.ts';
import { HostileServer, type Script } from './server.ts';

/** Where repositories are made. */
export interface Ground {
  /** An empty folder, for a repository in files. */
  folder(): string;
  readonly server: HostileServer;
  /** A file that something of a repository would make if it ran. */
  readonly marker: string;
}

export interface Hostile {
  readonly name: string;
  /** Its URL, and the ref that is asked for. */
  readonly build: (ground: Ground) => { readonly url: string; readonly ref?: string };
  /** Words of the refusal, or the files that come out: then it was harmless. */
  readonly expected: RegExp | readonly string[];
}

/** One that is sent as a pack: `make` answers its commit. */
export function sent(
  name: string,
  expected: Hostile['expected'],
  make: (objects: Objects) => string,
  more: (objects: Objects, tip: string) => Partial<Script> = () => ({}),
): Hostile {
  return {
    name,
    expected,
    build({ server }) {
      const objects = new Objects();
      const tip = make(objects);
      return { url: server.serve({ tip, shallow: objects.lastCommit, pack: objects.pack(), ...more(objects, tip) }) };
    },
  };
}

/** One that lies in files of this machine; `alter` changes them. */
export function stored(
  name: string,
  expected: Hostile['expected'],
  alter: (folder: string, objects: Objects, ground: Ground) => void,
): Hostile {
  return {
    name,
    expected,
    build(ground) {
      const folder = join(ground.folder(), 'x.git');
      const objects = new Objects();
      objects.store(folder, objects.commit(objects.tree(['100644', 'main.tf', objects.blob()])));
      alter(folder, objects, ground);
      return { url: `file://${folder}` };
    },
  };
}
