const TARGETS = ['workspace', 'workflow', 'backup', 'playbook'] as const;

/** An action of a rule, or of a step: its kind, and the target that it has. */
type Action = { readonly [T in (typeof TARGETS)[number]]?: string | undefined } & {
  readonly kind: string;
  readonly inventory?: string | undefined;
  readonly limit?: string | null | undefined;
};

/** What an action does and to what: `apply net`, `command on localhost, only web1`. */
export function actionText({ action }: { readonly action: Action }): string {
  const { kind, inventory, limit } = action;
  const [target] = TARGETS.flatMap((name) => action[name] ?? []);
  const what = target === undefined ? kind : `${kind} ${target}`;
  if (inventory === undefined) return what;
  return `${what} on ${inventory}${limit === undefined || limit === null ? '' : `, only ${limit}`}`;
}
