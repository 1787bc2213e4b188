/**
 * The names of the service in the audit ledger, in the asking chain and as the recipient of links: `gatehouse`, or a
 * word, a colon and a name (`daemon:dmn_…`, `local:ops`, `notify:ops`, `transport:1`, `webhook:am`).
 */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'gatehouse',
  'daemon',
  'local',
  'notify',
  'rule',
  'schedule',
  'transport',
  'webhook',
]);

/** Whether a token or an owner of this name could be taken for the service. */
export function isReservedName(name: string): boolean {
  const [word = ''] = name.split(/[: ]/, 1);
  return OWN_WORDS.has(word);
}
