export function hostileDeadman(text: string) {
  const watch = { name: text, webhook: text, every: text, state: text, last_heard_at: text, created_at: text };
  return { 'deadman.get': watch, 'deadman.list': [watch, { ...watch, last_heard_at: null }] };
}
