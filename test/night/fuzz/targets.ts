/** All targets of the fuzz. One more is a row in the file of its area; its name is what `--target` takes. */
import { INVENTORY_TARGETS } from './inventories.ts';
import { CONFIGURATION_TARGETS } from './configuration.ts';
import { FILE_TARGETS } from './files.ts';
import { IMPORT_TARGETS } from './imports.ts';
import { INGRESS_TARGETS } from './ingress.ts';
import { NETGROUP_TARGETS } from './netgroups.ts';
import { PROBE_TARGETS } from './probes.ts';
import { REQUEST_TARGETS } from './requests.ts';
import { ROW_TARGETS } from './rows.ts';
import { RULE_TARGETS } from './rules.ts';
import { SERVER_TARGETS } from './servers.ts';
import type { FuzzTarget } from './target.ts';
import { YAML_TARGETS } from './yaml.ts';

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...INGRESS_TARGETS,
  ...RULE_TARGETS,
  ...YAML_TARGETS,
  ...FILE_TARGETS,
  ...INVENTORY_TARGETS,
  ...REQUEST_TARGETS,
  ...NETGROUP_TARGETS,
  ...PROBE_TARGETS,
  ...SERVER_TARGETS,
  ...CONFIGURATION_TARGETS,
  ...IMPORT_TARGETS,
  ...ROW_TARGETS,
];
