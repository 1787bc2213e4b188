import { fromJson, type Json } from '../../lib/json.ts';
/** What a workspace gives to each of its runs: without it a drift check would compare with the defaults. */
export interface WorkspaceInputs {
  /** Variable to value, as `-var` takes it. */
  readonly vars: Readonly<Record<string, string>>;
  readonly varFiles: readonly VarFile[];
  /** Variable to `<project>/<secret>`. */
  readonly runSecrets: Readonly<Record<string, string>>;
}

/** A file of variables, as it was when it was given: the run must not depend on a path. */
export interface VarFile {
  /** Its base name; terraform reads one that ends in `.json` as JSON. */
  readonly name: string;
  readonly text: string;
}

/** What of it a plan is made with on the command line of the tool. */
export type PlanInputs = Pick<WorkspaceInputs, 'vars' | 'varFiles'>;

/** A secret and the version of its value: a plan contains the value that it was made with. */
export interface UsedSecret {
  readonly ref: string;
  readonly version: number;
}

export const NO_PLAN_INPUTS: PlanInputs = { vars: {}, varFiles: [] };
const NO_INPUTS: WorkspaceInputs = { ...NO_PLAN_INPUTS, runSecrets: {} };

/** Reads the column of a workspace. */
export function readInputs(json: Json<Partial<WorkspaceInputs>>): WorkspaceInputs {
  return { ...NO_INPUTS, ...fromJson(json) };
}

/** The names alone: a value may be anything. */
export function inputNames({ vars, varFiles, runSecrets }: WorkspaceInputs) {
  return {
    vars: Object.keys(vars).toSorted(),
    var_files: varFiles.map(({ name }) => name),
    run_secrets: Object.keys(runSecrets).toSorted(),
  };
}
