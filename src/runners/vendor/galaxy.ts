import { join } from 'node:path';
import type { RunTools } from '../runner.ts';
import type { Requirements } from './requirements.ts';

type Tools = Pick<RunTools<never>, 'runDir' | 'placeInput'>;

/** A server that does not answer for so long has failed, in seconds. */
const TIMEOUT_S = 60;

/** The words for ansible-galaxy: the requirements are in files that the service has written, and in no word. */
export async function galaxyOrders(
  { collections, roles }: Requirements,
  made: string,
  { placeInput }: Tools,
): Promise<string[][]> {
  const orders: string[][] = [];
  for (const [noun, items] of [
    ['collection', collections],
    ['role', roles],
  ] as const) {
    if (items.length === 0) continue;
    // JSON is YAML.
    const text = JSON.stringify(noun === 'role' ? items : { collections: items });
    const file = await placeInput(`${noun}s.yml`, Buffer.from(text));
    const to = `--${noun === 'role' ? 'roles' : 'collections'}-path=${join(made, `${noun}s`)}`;
    orders.push([noun, 'install', noun === 'role' ? `--role-file=${file}` : `--requirements-file=${file}`, to]);
  }
  return orders;
}

/** All that ansible-galaxy and the git that it starts would else read from files of the machine. */
export async function galaxyEnvironment(
  made: string,
  { runDir, placeInput }: Tools,
): Promise<Readonly<Record<string, string>>> {
  const home = join(runDir, '.ansible');
  return {
    ANSIBLE_CONFIG: await placeInput('ansible.cfg', Buffer.from('[defaults]\n')),
    ANSIBLE_HOME: home,
    ANSIBLE_LOCAL_TEMP: join(home, 'tmp'),
    ANSIBLE_GALAXY_CACHE_DIR: join(home, 'galaxy_cache'),
    ANSIBLE_GALAXY_TOKEN_PATH: join(home, 'galaxy_token'),
    ANSIBLE_GALAXY_SERVER_TIMEOUT: String(TIMEOUT_S),
    ANSIBLE_GALAXY_DISPLAY_PROGRESS: 'false',
    ANSIBLE_COLLECTIONS_PATH: join(made, 'collections'),
    ANSIBLE_ROLES_PATH: join(made, 'roles'),
    ANSIBLE_NOCOLOR: '1',
    // What a dependency names is not ours: git may use no other protocol, whatever it says.
    GIT_ALLOW_PROTOCOL: 'https',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_LFS_SKIP_SMUDGE: '1',
  };
}
