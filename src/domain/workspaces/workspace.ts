import type { Tree } from '../sources/directory.ts';
import type { ReadPlan, Verdict } from './plan.ts';
import type { PlanInputs } from './inputs.ts';
import type { Policy } from './policy.ts';

/** Words of workspaces. */

export const DRIFT_STATES = ['unknown', 'clean', 'drifted'] as const;
export type Drift = (typeof DRIFT_STATES)[number];

/** The kinds of jobs that work on a workspace, one at a time. */
const WORKSPACE_KINDS = ['plan', 'apply', 'destroy', 'drift'] as const;
export type WorkspaceKind = (typeof WORKSPACE_KINDS)[number];

/** Those of them that change the infrastructure. */
export const CHANGING_KINDS = ['apply', 'destroy'] as const satisfies readonly WorkspaceKind[];
export type ChangingKind = (typeof CHANGING_KINDS)[number];

/** For any kind of job. */
export function isChanging(kind: string): kind is ChangingKind {
  return (CHANGING_KINDS as readonly string[]).includes(kind);
}

/** The `spec` of such a job. */
export interface WorkspaceSpec {
  readonly workspace: string;
  /** The saved plan that an apply carries out; null for a fresh run. */
  readonly plan: string | null;
  /** Variable to `<project>/<secret>`. */
  readonly runSecrets: Readonly<Record<string, string>>;
  /** A plan that would change something ends with exit code 2. */
  readonly detailedExitcode?: boolean;
}

export function workspaceKey(name: string): string {
  return `workspace:${name}`;
}

/** What a run starts with; the daemon gathers it, because a runner knows no store. Plain text in memory only. */
export interface WorkspaceMaterials {
  /** The directory to take the private copy from, and the root below it (empty: the directory itself). */
  readonly tree: Tree;
  readonly root: string;
  /** Whether the tree is a source's: one that declares lifecycle hooks is refused. */
  readonly fromSource: boolean;
  /** The folder of the providers that were fetched for the source; null without one. */
  readonly mirror: string | null;
  readonly kept: KeptInitPlace;
  /** Of the plan that is being made, for its view. */
  readonly artifactId: string;
  /** The state that the service keeps; null before the first, or if the root has its own backend. */
  readonly state: Uint8Array | null;
  /** Where that state is; without one, where the state is that the files have to bring. Null before the first. */
  readonly noted: NotedPosition | null;
  /** Whether the root had its own backend at the last run; null before the first. */
  readonly ownBackend: boolean | null;
  /** The version of a state that was set aside since the last change of the state; null without one. */
  readonly aside: number | null;
  readonly policy: Policy;
  readonly inputs: PlanInputs;
  readonly plan: SavedPlan | null;
}

/** Where the service keeps what the last `init` of the workspace left. */
interface KeptInitPlace {
  readonly folder: string;
  readonly workspace: string;
  /** What an init depends on besides the files: when these words change, it runs again. */
  readonly facts: string;
}

export interface SavedPlan {
  readonly file: Uint8Array;
  /** What its apply is given again: the ephemeral variables that it was made with. */
  readonly inputs: PlanInputs;
  /** What the copy of the tree must have. */
  readonly treeDigest: string;
  readonly needsInit: boolean;
  readonly ownBackend: boolean;
  /** The serial that it was made from; checked against the backend where the root has its own. */
  readonly serial: number;
  readonly lineage: string;
}

/** What a run of a workspace found out, beside how it ended. */
export interface WorkspaceResult {
  /** The state after the run; null if unknown. Noted for a root with its own backend: of others the state is stored. */
  readonly position: StatePosition | null;
  readonly ownBackend: boolean;
  /** Of a plan run that succeeded. */
  readonly made: MadePlan | null;
  /** Of a drift run that succeeded. */
  readonly drift: Exclude<Drift, 'unknown'> | null;
}

/** A whole state, as a file of terraform holds it. */
export interface State extends StatePosition {
  readonly bytes: Buffer;
  /** How many resources it has. */
  readonly resources: number;
}

/** A state that is kept during its run. */
export interface StateCheckpoint {
  readonly state: State;
  /** What the run has made, what a person must put back, or what the files of the run brought. */
  readonly as: 'made' | 'aside' | 'brought';
}

/** Which state this is: terraform raises the serial with each change, and a new state gets a new lineage. */
export interface StatePosition {
  readonly serial: number;
  readonly lineage: string;
}

/** The position that a workspace has noted. */
export interface NotedPosition extends StatePosition {
  /** Whether a run of the service made it. One that was made outside of it may have been continued there. */
  readonly isOurs: boolean;
}

/**
 * Whether a state may be read in for a noted one that is not stored, as earlier builds left it: it is that state, or
 * what was made from it outside of the service.
 */
export function isStateOf(noted: NotedPosition, { serial, lineage }: StatePosition): boolean {
  return lineage === noted.lineage && (serial === noted.serial || (serial > noted.serial && !noted.isOurs));
}

export interface MadePlan {
  readonly file: Uint8Array;
  readonly inputs: PlanInputs;
  readonly treeDigest: string;
  readonly needsInit: boolean;
  readonly before: StatePosition;
  readonly plan: ReadPlan;
  readonly verdict: Verdict;
  /** Why, without any value. */
  readonly verdictReason: string;
}
