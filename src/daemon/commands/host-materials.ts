import { Failure } from '../../domain/failure.ts';
import type { CommandSpec } from '../../domain/commands/command.ts';
import { connections } from '../../domain/inventories/connection.ts';
import { SSH_AGENT } from '../../domain/inventories/inventory.ts';
import { knownHosts } from '../../domain/inventories/host-key.ts';
import { hostsIn, noSshKey } from '../../jobs/inventories/targets.ts';
import type { HostMaterials } from '../../runners/command/on-hosts.ts';
import { hostKeysOf } from '../../store/inventories/host-keys.ts';
import { checkedInventory } from '../inventories/checked-inventory.ts';
import { sshKeyOf } from '../inventories/ssh-key.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import type { RunDeps } from '../jobs/run-support.ts';

/**
 * The hosts of a command as the inventory has them now, with their accepted keys and the private key. Throws Failure
 * where the inventory, its secret or the hosts of the limit are gone, or the inventory is not the approved one.
 */
export async function hostMaterials(
  deps: RunDeps,
  job: Pick<JobRow, 'pinned'>,
  spec: CommandSpec,
): Promise<HostMaterials> {
  const { store, keyring, settings } = deps;
  const { inventory: name } = spec;
  const { db } = store;
  const { inventory, sshKey: ref } = await checkedInventory(deps.store, { job, name });
  const hosts = connections(inventory, hostsIn(inventory, spec));
  const keys = await hostKeysOf(db, name);
  const needsKey = hosts.some(({ kind }) => kind === 'ssh');
  if (needsKey && ref === null) throw noSshKey(name);
  return {
    hosts,
    trusted: new Set(keys.keys()),
    knownHosts: knownHosts(hosts, keys),
    key: needsKey && ref !== null && ref !== SSH_AGENT ? await sshKeyOf(db, await keyring(), ref) : null,
    agent: needsKey && ref === SSH_AGENT ? agentOf(settings, name) : null,
    forks: settings.forks,
    inventory: name,
  };
}

function agentOf({ sshAgent }: RunDeps['settings'], inventory: string): string {
  if (sshAgent !== null) return sshAgent;
  throw new Failure(
    'conflict',
    `The inventory ${inventory} uses an SSH agent, and the daemon was started without one: svc serve --ssh-agent FILE`,
  );
}
