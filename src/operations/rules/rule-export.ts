import * as z from 'zod';
import { OPERATORS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { ruleFault } from '../../domain/rules/fault.ts';
import type { RuleFile } from '../../domain/rules/file.ts';
import { writeRuleFile } from '../../domain/rules/write-file.ts';
import { fromJson } from '../../lib/json.ts';
import { getRule, ruleOf } from '../../store/rules/rules.ts';
import type { RuleRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { hideCredentials, keptCredentials, replaceTexts, textsOf } from '../core/sections/kept.ts';
import { localOnly, readOperation } from '../core/operation.ts';
import { reply } from '../core/reply.ts';

const LOCAL_ONLY = localOnly(
  'The action of a rule is shown on the machine only, because its command may hold secrets.',
);

export const exportRule = readOperation({
  id: 'rule.export',
  summary: 'Print a rule as the file that svc rule add --replace accepts',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'rule export', positionals: ['name'], examples: ['svc rule export disk-full > disk-full.yaml'] },
  input: z.strictObject({ name: field.name }),
  answers: ['rule.exported'],
  failures: ['not_found'],
  async run({ store }, { name }) {
    const rule = ruleOf(await getRule(store.db, name));
    const action = replaceTexts(rule.action, hideCredentials);
    return reply('rule.exported', { name, text: await writeRuleFile({ ...rule, action }) });
  },
});

/** The rule with the stored credentials in place of `[kept]`. Throws invalid_argument where there is no stored one. */
export async function withKept(file: RuleFile, stored: RuleRow | undefined): Promise<RuleFile> {
  const originals = stored === undefined ? [] : textsOf(fromJson(stored.action));
  const action = replaceTexts(file.action, keptCredentials('action', originals));
  if (textsOf(action).join('\0') === textsOf(file.action).join('\0')) return file;
  const fault = await ruleFault({ when: file.when, action });
  if (fault !== null) throw new Failure('invalid_argument', `${fault}.`);
  return { ...file, action };
}
