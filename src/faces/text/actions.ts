/** An action of a rule, or of a step: its kind, and the target that it has. */
interface Action {
  readonly kind: string;
  readonly workspace?: string | undefined;
  readonly workflow?: string | undefined;
  readonly backup?: string | undefined;
  readonly playbook?: string | undefined;
  readonly inventory?: string | undefined;
  readonly limit?: string | null | undefined;
}

/** What an action does and to what: `apply net`, `command on localhost, only web1`. */
export function actionText({ action }: { readonly action: Action }): string {
  const { kind, workspace, workflow, backup, playbook, inventory, limit } = action;
  const target = workspace ?? workflow ?? backup ?? playbook;
  const what = target === undefined ? kind : `${kind} ${target}`;
  if (inventory === undefined) return what;
  return `${what} on ${inventory}${limit === undefined || limit === null ? '' : `, only ${limit}`}`;
}
