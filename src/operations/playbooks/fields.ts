import * as z from 'zod';
import { extraVarsFault } from '../../domain/playbooks/extra-vars.ts';
import { playbookFault, tagsFault } from '../../domain/playbooks/playbook.ts';
import type { Json } from '../../domain/yaml/json.ts';
import * as field from '../core/fields.ts';

/** The input fields of a playbook run. */

type Report = (fault: string) => void;

function reporting(context: z.RefinementCtx): Report {
  return (message) => context.addIssue({ code: 'custom', message });
}

export const playbookField = z.string({ error: 'expected the path of a playbook' }).superRefine((path, context) => {
  const fault = playbookFault(path);
  if (fault !== null) reporting(context)(fault);
});

const TAGS_CHARACTERS_MAX = 10_000;

/** A list of tags, or one text with commas between them. */
const tagsField = field.as(
  'TAG,...',
  z
    .union(
      [
        z.string().max(TAGS_CHARACTERS_MAX, { error: `expected at most ${TAGS_CHARACTERS_MAX} characters` }),
        z.array(z.string()),
      ],
      { error: 'expected a list of tags, or a text with commas between them' },
    )
    .transform((given) => (typeof given === 'string' ? (given === '' ? [] : given.split(',')) : given))
    .superRefine((tags, context) => {
      const fault = tagsFault(tags);
      if (fault !== null) reporting(context)(fault);
    })
    .default([]),
);

/** Data of JSON: a request was parsed from it. */
const extraVarsField = z
  .record(z.string(), z.unknown(), { error: 'expected an object of variables' })
  .transform((vars) => vars as Readonly<Record<string, Json>>)
  .superRefine((vars, context) => {
    const fault = extraVarsFault(vars);
    if (fault !== null) reporting(context)(fault);
  })
  .default({});

/** The fields that a run and a schedule of runs have in common. */
export const RUN_FIELDS = {
  source: field.name.optional().describe('Registered source that contains the playbook'),
  tags: tagsField.describe('Run only tasks with one of these tags, with commas between them'),
  skip_tags: tagsField.describe('Skip tasks with one of these tags, with commas between them'),
  check: field.flag.describe('Report what would change, but change nothing'),
  diff: field.flag.describe('Show the differences of changed files'),
  extra_vars: extraVarsField,
  vault_project: field
    .as('PROJECT', field.name.clone())
    .optional()
    .describe('Project whose secrets become vault ids and variables'),
  tolerate_unreachable: field.flag.describe('End as degraded, not failed, if only offline hosts are missing'),
};
