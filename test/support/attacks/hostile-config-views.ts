/** The views of the configuration with `text` wherever text may stand. */
export function hostileConfig(text: string) {
  const change = {
    kind: text,
    name: text,
    line: 1,
    fields: [{ field: text, from: text, to: text }],
    by_hand: { principal: text, operation: text, at: text },
  };
  const diff = {
    set: text,
    changes: [
      { ...change, change: text },
      { ...change, change: 'add' },
    ],
    same: 1,
    left: [{ kind: text, name: text }],
    taken: [{ kind: text, name: text, from: text }],
  };
  return {
    'config.exported': { text },
    'config.diff': diff,
    'config.applied': { ...diff, webhooks: [{ name: text, url: text, signing_secret: text }] },
  };
}
