/** The longest life of a token in a strict service. */
export const LONGEST_EXPIRY_MS = 90 * 86_400_000;

/** What one person alone can do, or what a finder of a credential can: each with the command that closes it. */
export const CLOSES = {
  workspaces: 'svc workspace update NAME --require-saved-plan --protect-destroy',
  inventories: 'svc inventory update NAME --approve-runs all',
  sources: 'svc source update NAME --approve-runs all',
  console_sessions: 'svc gate strict on',
  notify_links: 'svc gate strict on',
  long_tokens: 'svc token create --expires 90d, then svc token revoke',
} as const;

type OpeningKind = keyof typeof CLOSES;
export const OPENING_KINDS = Object.keys(CLOSES) as OpeningKind[];

export interface Opening {
  readonly what: OpeningKind;
  readonly count: number;
}

/** In words, for people. */
export const OPENING_WORDS: Readonly<Record<OpeningKind, string>> = {
  workspaces: 'workspaces take a fresh apply or a destroy',
  inventories: 'inventories take commands and playbooks without an approval',
  sources: 'sources have playbooks that run without an approval',
  console_sessions: 'operator tokens decide in the console without the scope approve',
  notify_links: 'notification targets get links that decide',
  long_tokens: 'tokens are valid for more than 90 days',
};
