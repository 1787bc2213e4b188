import * as z from 'zod';
import { NAME } from '../../domain/name.ts';
import { isRefusedRunSecretName } from '../../domain/secrets/variable.ts';

/** A run has some ten secrets at most; a list without an end would make its environment one. */
export const RUN_SECRETS_MAX = 64;
/** `TF_VAR_` and this still is a short line of an environment. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Whether it is `<project>/<secret>`, both names of ours. */
export function isSecretRef(text: string): boolean {
  const parts = text.split('/');
  return parts.length === 2 && parts.every((part) => NAME.test(part));
}

/** The input field `run_secrets`: variable to `<project>/<secret>`. A refusal names the variable. */
export const runSecretsField = z
  .record(z.string(), z.string({ error: 'expected project/secret' }), {
    error: 'expected an object of variable to project/secret',
  })
  .superRefine((refs, context) => {
    const refuse = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
    const entries = Object.entries(refs);
    if (entries.length > RUN_SECRETS_MAX) refuse([], `expected at most ${RUN_SECRETS_MAX} secrets`);
    for (const [variable, ref] of entries.slice(0, RUN_SECRETS_MAX)) {
      // Of a name that is no name a part is enough to find it again.
      const path = [variable.slice(0, 80)];
      if (!VARIABLE.test(variable)) refuse(path, 'expected a name of letters, digits and _, 128 at most');
      else if (isRefusedRunSecretName(variable))
        refuse(path, 'this variable changes how the tool runs; choose another name');
      else if (!isSecretRef(ref)) refuse(path, 'expected project/secret');
    }
  })
  .default({});
