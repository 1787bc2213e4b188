/** The views of backups. */
export function hostileBackups(text: string) {
  const backup = { id: text, job_id: text, created_at: text, size_bytes: 1, sha256: text, verified_at: text };
  return { 'backup.list': [backup], 'backup.get': backup };
}
