/** The machines on which a first run is tried, and the Debian of each. */

export const BASES = {
  // Its package nodejs is older than the project needs, so it gets Node and npm as nodejs.org builds them.
  'debian-12': { suite: 'bookworm', debianPackages: [], npmPackages: { node: '20.19.5', npm: '10.8.2' } },
  'debian-13': { suite: 'trixie', debianPackages: ['nodejs', 'npm'], npmPackages: null },
} as const satisfies Readonly<Record<string, Base>>;

export interface Base {
  readonly suite: string;
  /** Besides the smallest Debian that has apt. */
  readonly debianPackages: readonly string[];
  /** The versions of Node and npm in /usr/local; null where Debian's packages are used. */
  readonly npmPackages: { readonly node: string; readonly npm: string } | null;
}

export type BaseName = keyof typeof BASES;

/** The second one is an ordinary account. */
export type AccountName = 'root' | 'user';

export interface Machine {
  readonly name: string;
  readonly base: BaseName;
  readonly engine: 'plain' | 'podman';
  readonly account: AccountName;
  /** With the terraform of this machine on the PATH. Without, `npm test` installs OpenTofu and the demo has neither. */
  readonly terraform: boolean;
}

export const MACHINES: readonly Machine[] = [
  { name: 'debian-12-plain-root', base: 'debian-12', engine: 'plain', account: 'root', terraform: false },
  { name: 'debian-12-plain-user', base: 'debian-12', engine: 'plain', account: 'user', terraform: false },
  { name: 'debian-12-podman-root', base: 'debian-12', engine: 'podman', account: 'root', terraform: false },
  { name: 'debian-12-podman-user', base: 'debian-12', engine: 'podman', account: 'user', terraform: true },
  { name: 'debian-13-plain-root', base: 'debian-13', engine: 'plain', account: 'root', terraform: true },
  { name: 'debian-13-plain-user', base: 'debian-13', engine: 'plain', account: 'user', terraform: true },
  { name: 'debian-13-podman-root', base: 'debian-13', engine: 'podman', account: 'root', terraform: true },
  { name: 'debian-13-podman-user', base: 'debian-13', engine: 'podman', account: 'user', terraform: false },
];
