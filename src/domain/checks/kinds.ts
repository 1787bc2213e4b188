import { Failure } from '../failure.ts';
import { allowsAddress, canonicalAddress } from '../../lib/ip/address.ts';
import { CHECK_KINDS, type CheckKind, type CheckOptions } from './check.ts';
import type { CheckKindFacts, OwnField, OwnFields, ShownFields } from './kind.ts';
import { dns } from './kinds/dns.ts';
import { http } from './kinds/http.ts';
import { metric } from './kinds/metric.ts';
import { ping } from './kinds/ping.ts';
import { tcp } from './kinds/tcp.ts';
import { tls } from './kinds/tls.ts';

export const CHECK_KIND_FACTS: { readonly [K in CheckKind]: CheckKindFacts<K> } = { tcp, tls, ping, http, dns, metric };

/** Reads the own fields of a check; each given one must be of its kind. Throws invalid_argument. */
export function readOptions(kind: CheckKind, fields: OwnFields): CheckOptions[CheckKind] {
  const { takes } = CHECK_KIND_FACTS[kind];
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name as OwnField]));
  const foreign = given.find((field) => !takes.includes(field));
  if (foreign !== undefined) {
    const [owner] = CHECK_KINDS.filter((each) => CHECK_KIND_FACTS[each].takes.includes(foreign));
    const message = `a check of kind ${kind} does not have this field; it is of the kind ${owner}.`;
    throw new Failure('invalid_argument', `${foreign}: ${message}`);
  }
  return CHECK_KIND_FACTS[kind].readOptions(fields);
}

/** The own fields of a check, for its view. */
export function showOptions<K extends CheckKind>(kind: K, options: CheckOptions[K]): ShownFields {
  return CHECK_KIND_FACTS[kind].show(options);
}

/** The address of a target of a kind whose targets are in netgroups, else null. */
export function addressOfTarget(kind: CheckKind, spec: string): string | null {
  const { hostOf, inNetgroups } = CHECK_KIND_FACTS[kind];
  return inNetgroups === true ? hostOf(spec) : null;
}

/** Whether no probe may reach a target, whatever its settings are. A name may have any address: false. */
export function isNeverProbed(kind: CheckKind, spec: string): boolean {
  const address = canonicalAddress(CHECK_KIND_FACTS[kind].hostOf(spec));
  return address !== null && !allowsAddress('probe', address);
}
