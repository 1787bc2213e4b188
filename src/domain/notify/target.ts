/** A target of `--notify` as the store keeps it: without its URL. */
export interface NotifyTarget {
  /** What the operator calls it; unique within one daemon. */
  readonly name: string;
  /** A digest of name and URL: another URL under the same name is another target. */
  readonly key: string;
}

/** As whom the links of a target decide. Owners of tokens have no colon in their name. */
export function recipientOf({ name }: Pick<NotifyTarget, 'name'>): string {
  return `notify:${name}`;
}

/** Enough of the key to distinguish two targets of one name. */
const KEY_CHARACTERS = 16;

/** What deliveries to it are recorded under. */
export function deliveryTargetOf({ name, key }: NotifyTarget): string {
  return `notify:${name}#${key.slice(0, KEY_CHARACTERS)}`;
}

/** The recipient and delivery target of builds that numbered the targets; `position` counts from 1. */
export function numberedTarget(position: number): string {
  return `transport:${position}`;
}

const NUMBERED = /^transport:\d+$/;

export function isNumberedTarget(text: string): boolean {
  return NUMBERED.test(text);
}
