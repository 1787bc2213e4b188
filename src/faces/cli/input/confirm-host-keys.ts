import { Failure } from '../../../domain/failure.ts';
import type { Confirm } from '../../../operations/core/cli-face.ts';
import type { Projected } from '../../../views/views.ts';
import type { Session } from '../connection/session.ts';
import { ask } from './question.ts';
import { preview } from './preview.ts';
import type { Fields } from '../syntax/arguments.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';
import { UsageFailure } from '../syntax/usage.ts';

/**
 * Shows the keys that the hosts offer now, and resolves with their fingerprints once a user has accepted them: the
 * request accepts these, and no key that a host offers a moment later. Throws UsageFailure like `ask`, and Failure
 * where no host has a key to offer.
 */
export async function confirmHostKeys(
  session: Session,
  { scan, field }: Extract<Confirm, { by: 'host-keys' }>,
): Promise<Fields> {
  const { fields, options, verb } = session;
  if (fields[field] !== undefined) return {};
  if (options.noInput && !options.yes)
    throw new UsageFailure(
      `svc ${verb.path}: needs --fingerprint, or --yes without a comparison.`,
      `svc ${verb.path} --help`,
    );
  const hosts = (await preview(session, operationVerb(TREE, scan).call, fields))
    .data as Projected<'inventory.host_keys'>;
  const fingerprints = new Set(hosts.flatMap(({ keys }) => keys.map(({ fingerprint }) => fingerprint)));
  const [first] = hosts;
  if (fingerprints.size === 0 && first !== undefined)
    throw new Failure('unavailable', `${first.host}: ${first.fault ?? 'it offers no key'}; nothing was accepted.`);
  const text = 'Compare the fingerprints with those of the hosts. Accept these keys? [y/N] ';
  if (!options.yes) await ask(session, { text, isYes: (answer) => /^y(es)?$/i.test(answer) });
  return { [field]: [...fingerprints] };
}
