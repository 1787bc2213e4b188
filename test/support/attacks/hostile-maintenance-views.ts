/** Views of maintenance with hostile text wherever text can be. */
export function hostileMaintenance(text: string) {
  const running = [{ job_id: text, kind: text, node: text, started_at: text }];
  return {
    'maintenance.readiness': { cordoned: true, in_flight: 1, safe_to_reboot: false, running },
    'maintenance.restart': {
      state: 'aborted',
      cordoned: true,
      in_flight: 1,
      requested_at: text,
      drain_deadline: text,
      reason: text,
      node: text,
      forced: true,
      finished_at: text,
      running,
    },
    'maintenance.reload': { schedules: 1, transports: 1, restart_needed: [text] },
    'node.list': [
      {
        name: text,
        version: text,
        started_at: text,
        last_seen_at: text,
        cordoned: true,
        running_jobs: 1,
        state: 'gone',
      },
    ],
  };
}
