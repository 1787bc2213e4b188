/** A change of the configuration: no program runs; what it changes is written with the end of the job. */
import type { OrderedChange } from '../../domain/configuration/change.ts';
import type { Runner } from '../runner.ts';
import type { ConfigSpec } from '../../domain/config-order/kind.ts';

/** Changes that the output names, one a line. */
const NAMED_MAX = 1_000;

export const configRunner: Runner<ConfigSpec, readonly OrderedChange[], never, 'applies'> = {
  clearFiles: [],
  run({ materials: changes }, tools) {
    for (const { change, kind, name } of changes.slice(0, NAMED_MAX))
      tools.say(`to apply: ${change} ${kind} ${name}`, false);
    if (changes.length > NAMED_MAX) tools.say(`and ${changes.length - NAMED_MAX} more`, false);
    return Promise.resolve({ state: 'succeeded', exitCode: 0, result: 'applies' });
  },
};
