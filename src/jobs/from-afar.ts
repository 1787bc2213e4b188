import type { Caller } from '../domain/access/caller.ts';
import { Failure } from '../domain/failure.ts';
import type { RuleRow } from '../store/schema/schema.ts';

/** Throws forbidden for what reaches beyond the sandbox, where a caller who is not on the machine asks for it. */
export function refuseFromAfar({ credential }: Pick<Caller, 'credential'>, what: string, command: string): void {
  if (credential === 'local') return;
  throw new Failure(
    'forbidden',
    `${what} reaches beyond the sandbox, so it is run only on the machine itself: ${command}.`,
  );
}

/** Throws conflict for a rule that needs approvals: the next rule that matches would act, perhaps without asking. */
export function refuseDisabling({ credential }: Pick<Caller, 'credential'>, rule: RuleRow): void {
  if (credential === 'local' || rule.approval !== 'required') return;
  throw new Failure(
    'conflict',
    `Rule ${rule.name} needs approvals, and without it another rule may act without one. A silence holds its events: ` +
      `svc silence add --rule ${rule.name} --for 2h --reason TEXT.`,
  );
}
