import { Failure } from '../../domain/failure.ts';
import { connections } from '../../domain/inventories/connection.ts';
import { knownHosts } from '../../domain/inventories/host-key.ts';
import { INVENTORY_FILE, renderInventory } from '../../domain/inventories/render.ts';
import { SSH_AGENT } from '../../domain/inventories/inventory.ts';
import { playbookKind } from '../../domain/playbooks/kind.ts';
import type { PlaybookSpec } from '../../domain/playbooks/playbook.ts';
import { vaultFault, vaultVariable } from '../../domain/playbooks/vault.ts';
import { approvedTree } from '../../jobs/pins/directory.ts';
import { hostsIn } from '../../jobs/inventories/targets.ts';
import type { Keyring } from '../../lib/seal.ts';
import { ansibleRunner } from '../../runners/ansible/ansible.ts';
import type { PlaybookMaterials, VaultSecret } from '../../runners/ansible/inputs.ts';
import { hostKeysOf } from '../../store/inventories/host-keys.ts';
import { encodeResults, insertResults } from '../../store/playbooks/results.ts';
import type { Db, JobRow } from '../../store/schema/schema.ts';
import { listProjectSecrets, readSecrets } from '../../store/secrets/secrets.ts';
import { checkedInventory } from '../inventories/checked-inventory.ts';
import { sshKeyOf } from '../inventories/ssh-key.ts';
import { dependenciesOf, NO_RESULT, NOTHING_PREPARED, type RunDeps, runKind } from '../jobs/run-support.ts';
import { sourceTree } from '../sources/source-tree.ts';
import { placeOfNamed } from '../../store/sources/source-place.ts';

export const PLAYBOOK_RUN = runKind(playbookKind, ansibleRunner, {
  async prepare(deps, job, spec, signal) {
    const { db } = deps.store;
    const ring = await deps.keyring();
    const secrets = await readSecrets(db, ring, spec.runSecrets);
    const vault = spec.vaultProject === null ? [] : await vaultOf(db, ring, spec.vaultProject);
    const { inventory: name, limit, limitIsOfEvent: isOfEvent } = spec;
    const { inventory, sshKey: ref } = await checkedInventory(deps.store, { job, name });
    const sshKey = await inventoryKey(db, ring, { name, ref });
    const hosts = hostsIn(inventory, { inventory: name, limit, isOfEvent });
    const addressed = connections(inventory, hosts).filter(({ kind }) => kind === 'ssh');
    const materials: PlaybookMaterials = {
      ...(await treeOf(deps, job, spec, signal)),
      inventory: { file: INVENTORY_FILE, text: renderInventory(inventory) },
      hosts: limit === null ? null : hosts,
      knownHosts: knownHosts(connections(inventory, [...inventory.hosts.keys()]), await hostKeysOf(db, name)),
      sshPorts: addressed.map(({ port }) => port),
      forks: deps.settings.forks,
      sshKey,
      vault,
    };
    return {
      ...NOTHING_PREPARED,
      secrets,
      hidden: [...vault.map(({ value }) => value), ...(sshKey === null ? [] : [sshKey])],
      materials,
      async finish({ result }) {
        if (result === undefined || result.recap.hosts === 0) return NO_RESULT;
        const stored = await encodeResults(result);
        return (tx) => insertResults(tx, job.id, stored);
      },
    };
  },
});

async function treeOf(
  deps: RunDeps,
  job: Pick<JobRow, 'pinned' | 'created_at'>,
  { source: name, dir, dirKept = null }: PlaybookSpec,
  signal: AbortSignal,
): Promise<Pick<PlaybookMaterials, 'tree' | 'plugins' | 'dependencies'>> {
  if (name !== null) {
    const { tree, source } = await sourceTree(deps, { job, name }, signal);
    return { tree, plugins: source.plugins === 1, dependencies: await dependenciesOf(deps, job, source) };
  }
  // The path may be another directory by now: the service's own is never copied into a run.
  const tree = await deps.sources.treeOf(placeOfNamed(dir ?? '', dirKept));
  if (tree === null)
    throw new Failure('conflict', 'The directory is gone, or is one that no run may take its files from.');
  return { tree: approvedTree(job, tree, 'its directory'), plugins: false, dependencies: null };
}

/** The secrets of a project, as they are at this moment. */
async function vaultOf(db: Db, ring: Keyring, project: string): Promise<VaultSecret[]> {
  const names = await listProjectSecrets(db, project);
  const fault = vaultFault(project, names);
  if (fault !== null) throw new Failure('conflict', `vault_project: ${fault}.`);
  const refs = Object.fromEntries(names.map((name) => [name, `${project}/${name}`]));
  const values = await readSecrets(db, ring, refs);
  return [...values].map(([name, value]) => ({ name, variable: vaultVariable(name), value }));
}

async function inventoryKey(
  db: Db,
  ring: Keyring,
  { name: inventory, ref }: { readonly name: string; readonly ref: string | null },
): Promise<Buffer | null> {
  if (ref === SSH_AGENT)
    throw new Failure(
      'conflict',
      `The inventory ${inventory} uses an SSH agent, and a playbook gets none, because any of its tasks could use it` +
        `: svc inventory update ${inventory} --ssh-key PROJECT/SECRET`,
    );
  return ref === null ? null : sshKeyOf(db, ring, ref);
}
