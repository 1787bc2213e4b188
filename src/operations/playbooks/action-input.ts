import type * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { givenReveal } from '../../domain/actions/reveal.ts';
import type { PlaybookAction } from '../../domain/playbooks/action.ts';
import type { ActionInput } from '../core/action-input.ts';
import { type REACH_FIELDS, reachIn } from '../core/reach-input.ts';
import { playbookField, RUN_FIELDS } from './fields.ts';

/** The fields of a schedule that runs a playbook, besides `inventory` and `limit`. */
export const PLAYBOOK_FIELDS = {
  playbook: playbookField.optional().describe('Run this playbook of --source on --inventory'),
  ...RUN_FIELDS,
};

type Input = z.output<z.ZodObject<typeof PLAYBOOK_FIELDS & typeof REACH_FIELDS>> & {
  readonly inventory?: string | undefined;
  readonly limit?: string | undefined;
  readonly reveal?: boolean | undefined;
};

const NEEDED = 'playbook: required with source, tags and other fields of a playbook.';

export const playbookInput: ActionInput<Input, PlaybookAction> = {
  hosts: true,
  read(input) {
    const { playbook, source, inventory, limit = null } = input;
    if (playbook === undefined) return null;
    return (timeout) => {
      if (source === undefined) throw new Failure('invalid_argument', 'source: required with a playbook.');
      if (inventory === undefined) throw new Failure('invalid_argument', 'inventory: required with a playbook.');
      return {
        playbook,
        source,
        inventory,
        limit,
        timeout,
        tags: input.tags,
        skipTags: input.skip_tags,
        check: input.check,
        diff: input.diff,
        extraVars: input.extra_vars,
        vaultProject: input.vault_project ?? null,
        tolerateUnreachable: input.tolerate_unreachable,
        ...givenReveal(input),
        ...reachIn(input),
      };
    };
  },
  refusal: (input) => (hasOwn(input) ? NEEDED : null),
};

function hasOwn(input: Input): boolean {
  const { source, tags, skip_tags: skipped, check, diff, extra_vars: vars, vault_project: project } = input;
  const { tolerate_unreachable: tolerates } = input;
  return (
    source !== undefined ||
    project !== undefined ||
    check ||
    diff ||
    tolerates ||
    tags.length + skipped.length + Object.keys(vars).length > 0
  );
}
