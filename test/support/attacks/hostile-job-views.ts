/** The views of jobs and of their orders, with the same text in each field. */
export function hostileJobs(text: string) {
  const job = {
    id: text,
    kind: text,
    state: text,
    runbook: text,
    source: text,
    trigger: text,
    workspace: text,
    concurrency_key: text,
    privileged: true,
  };
  const times = { created_at: text, started_at: text, finished_at: text, expires_at: text };
  const whole = {
    ...job,
    ...times,
    progress: { play: text, task: text },
    exit_code: 1,
    requested_by: text,
    redrive_of: text,
    plan_artifact_id: text,
  };
  return {
    'job.list': [whole],
    'job.get': { ...whole, event_id: text, approval_id: text, reason: text, node: text, rerun_of: text },
    order: hostileOrder(text),
    'job.events': [
      { seq: 1, at: text, type: 'state', state: text, exit_code: null },
      { seq: 2, at: text, type: 'log', stream: text, text },
      { seq: 3, at: text, type: 'progress', play: text, task: text },
    ],
    'job.enqueued': { job_id: text, state: text },
    'job.redrive': [{ old_job_id: text, new_job_id: text }],
    'job.command': { job_id: text, command: [text, text] },
    'command.result': {
      job_id: text,
      state: text,
      hosts: [{ host: text, rc: 0, changed: true, stdout: text, stderr: text, status: text }],
    },
  };
}

function hostileOrder(text: string) {
  return {
    job_id: text,
    kind: text,
    inventory: text,
    hosts: { count: 1, names: [text] },
    limit: text,
    tags: [text],
    skip_tags: [text],
    command: [text],
    playbook: text,
    source: text,
    source_commit: text,
    path: text,
    extra_vars: { [text]: text },
    secrets: [text],
    changes: null,
    privileged: true,
    writable: [text],
    egress_ports: [1],
    timeout: text,
    summary: text,
    because: text,
    schedule: text,
    alert: { name: text, status: text, severity: text, host: text, sender_text: { summary: text, description: text } },
    step: { run_id: text, workflow: text, name: text, failed_before: [{ name: text, state: text }] },
  };
}
