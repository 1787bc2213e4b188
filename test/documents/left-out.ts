/** Commands of the documents and of the help that these tests do not run, each with the reason. */
export const LEFT_OUT: readonly (readonly [command: RegExp, why: string])[] = [
  [/^(bin\/)?svc (serve|web|watch)\b/m, 'runs until it is stopped'],
  [/^(npm|node) /, 'starts, builds or tests the checkout'],
  [/\bgit\.example\.org\b/, 'needs a Git server'],
  [/\bsystemctl\b/, 'needs systemd'],
  [/^curl .*example\.com\/login$/, 'answers 401, which the curl of these tests takes for a failure'],
  [/^(useradd|chown|mkdir --mode|alias) /, 'changes accounts of the machine'],
  [/\bdb\.example\b|^sudo -u postgres /, 'needs a PostgreSQL server'],
  [/\/etc\/prometheus\//, 'changes files of the machine'],
  [/^pass /, 'needs a password store'],
  [/^#!.*\n# \/usr\/local\/bin\/free-space\n/, 'gets its arguments and its event from a rule'],
  [/^svc maintenance restart --wait/, 'followed by how-tos.test.ts'],
];

export function isLeftOut(command: string): boolean {
  return LEFT_OUT.some(([pattern]) => pattern.test(command.trim()));
}
