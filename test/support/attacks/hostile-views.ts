/** Views with a text in every field that may have one. */
import type { ViewName } from '../../../src/views/views.ts';
import { hostileJobs } from './hostile-job-views.ts';
import { hostileBackups } from '../backups/hostile-views.ts';
import { hostileDeadman } from '../deadman/hostile-views.ts';
import { hostileApprovals, hostileInfrastructure } from './hostile-infrastructure-views.ts';
import { hostileMaintenance } from './hostile-maintenance-views.ts';

/** The views of host requests, mutes and webhooks. */
function hostileHost(text: string) {
  const scope = { scope_kind: text, scope_value: text };
  const mute = { id: text, ...scope, reason: text, created_via: text, expires_at: text };
  const held = { created_at: text, about: text, host: text, job_id: text, event_id: text, run_id: text };
  return {
    'host.request': {
      event_id: text,
      outcome: text,
      reason: text,
      job_id: text,
      approval_id: text,
      job_state: text,
      exit_code: 1,
    },
    'mute.list': [mute, { ...mute, scope_kind: 'global', scope_value: null, reason: null }],
    'mute.get': mute,
    'mute.preview': { ...scope, since: text, would_hold: 1, examined: 1, newest: [held] },
    'webhook.list': [
      { name: text, source: text, created_at: text, last_heard_at: text },
      { name: text, source: text, created_at: text, last_heard_at: null },
    ],
    'webhook.get': { name: text, source: text, signed: true, created_at: text, last_heard_at: text },
    'webhook.created': { name: text, source: text, signed: true, url: text, signing_secret: text },
    'event.accepted': { events: [{ event_id: text, outcome: text }] },
  };
}

/** The views of events. */
function hostileEvents(text: string) {
  const facts = {
    id: text,
    source: text,
    name: text,
    status: text,
    netgroup: text,
    severity: text,
    fingerprint: text,
    labels: { [text]: text },
  };
  const event = {
    ...facts,
    outcome: text,
    reason: text,
    rule: text,
    job_id: text,
    approval_id: text,
    received_at: text,
  };
  const observation = { observed_at: text, status: text, consecutive: 1 };
  const counts = { received: 6, ignored: 1, matched: 1, suppressed: 1, gated: 1, fired: 1, error: 1 };
  return {
    'event.list': [event, { ...event, name: undefined, status: undefined, rule: null }],
    'event.get': { ...event, check_observations: [observation], job_state: text },
    'event.summary': counts,
    'event.trace': {
      event_id: text,
      outcome: text,
      reason: text,
      steps: [
        { step: 'rule', rule: text, result: 'passed', why: text },
        {
          step: text,
          rule: null,
          result: text,
          why: text,
          terms: [
            { term: text, result: text, why: text },
            { term: text, result: 'true', why: null },
          ],
        },
      ],
      annotations: { [text]: text },
    },
  };
}

/** The views of rules and silences. */
function hostileRules(text: string) {
  const whole = { name: text, enabled: true, when: text, cooldown: text, approval: text, last_fired_at: text };
  const action = { kind: 'command', inventory: text, limit: text, timeout: text };
  const silence = { id: text, rule: text, when: text, reason: text, created_at: text, expires_at: text };
  const others = [{ kind: 'apply', workspace: text, timeout: text }, { kind: 'notify' }].map((each) => ({
    ...whole,
    enabled: false,
    cooldown: null,
    action: each,
  }));
  return {
    'rule.list': [{ ...whole, action, silenced_until: text, silence_id: text }, ...others],
    'rule.get': {
      ...whole,
      approval: 'required',
      action,
      approval_ttl: text,
      added_by: text,
      created_at: text,
      updated_at: text,
      silenced_until: text,
      silence_id: text,
      ended_silences: [text, text],
    },
    'rule.exported': { name: text, text },
    'rule.test': {
      rule: text,
      event_id: text,
      fires: true,
      outcome: text,
      reason: text,
      trace: [{ step: 'rule', rule: text, result: 'passed', why: text }],
    },
    'silence.list': [silence, { ...silence, rule: null }],
    'silence.get': silence,
  };
}

/** The views of pages. */
function hostileNotify(text: string) {
  const endpoint = { id: text, endpoint: text, label: text, created_at: text };
  return {
    'notify.endpoint': endpoint,
    'notify.endpoint.list': [endpoint, { ...endpoint, label: undefined }],
    'notify.key': { public_key: text },
    'notify.test': { page_id: text, endpoints: 2 },
    'job.notify': { job_id: text, state: text, armed_at: text },
    ...hostileDeadman(text),
  };
}

/** The views of schedules. */
function hostileSchedules(text: string) {
  const schedule = {
    name: text,
    cron: text,
    timezone: text,
    enabled: true,
    runbook: text,
    next_at: text,
    last_at: text,
    last_job_id: text,
  };
  const action = { kind: text, workspace: text, inventory: text, limit: text, timeout: text };
  return {
    'schedule.list': [schedule, { ...schedule, enabled: false, next_at: null, last_job_id: null }],
    'schedule.get': { ...schedule, approval: 'required', approval_ttl: text, action },
  };
}

/** The views of jobs. */
/** The views of inventories. */
function hostileInventories(text: string) {
  const inventory = { name: text, hosts: 1, groups: 1, ssh_key: text, created_at: text, updated_at: text };
  const member = { host: text, address: text, port: 22, user: text, connection: text };
  const keys = [{ type: text, fingerprint: text }];
  return {
    'inventory.list': [inventory],
    'inventory.get': { ...inventory, members: [{ ...member, groups: [text], host_keys: keys }] },
    'inventory.host_keys': [{ ...member, keys: [{ ...keys[0], accepted: false }], accepted: keys, fault: text }],
  };
}

function hostileNetgroups(text: string) {
  const netgroup = { id: text, name: text, prefixes: [text], excludes: [text] };
  return {
    'netgroup.list': [netgroup],
    'netgroup.get': netgroup,
    'netgroup.classify': { address: text, netgroup: text, match: { netgroup: text, prefix: text, excluded: true } },
  };
}

/** Data of each view with `text` wherever text may stand. */
function hostileChecks(text: string) {
  const target = { status: text, netgroup: text, duration_ms: 1, last_change: text, snoozed_until: text };
  const check = {
    name: text,
    kind: text,
    interval: text,
    enabled: true,
    targets: [
      { name: text, ...target },
      { name: text, ...target, status: 'down' },
    ],
    min_days: 1,
    expect: 200,
    expect_addr: text,
    op: text,
    value: 1,
    method: text,
    expect_body: text,
    pointer: text,
  };
  const result = { target: text, up: false, duration_ms: 1, netgroup: text, detail: text };
  return { 'check.list': [check], 'check.get': check, 'check.probe': { check: text, targets: [result] } };
}

export function hostile(text: string): Record<ViewName, unknown> {
  const token = {
    id: text,
    name: text,
    owner: text,
    scope: text,
    created_at: text,
    expires_at: text,
    revoked_at: text,
  };
  return {
    ...hostileInfrastructure(text),
    ...hostileInventories(text),
    ...hostileNetgroups(text),
    ...hostileApprovals(text),
    ...hostileJobs(text),
    ...hostileHost(text),
    ...hostileEvents(text),
    ...hostileChecks(text),
    ...hostileSchedules(text),
    ...hostileNotify(text),
    ...hostileRules(text),
    ...hostileMaintenance(text),
    'gate.get': { strict: true, set_at: text, set_by: text, open: [{ what: 'sources', count: 1, close: text }] },
    whoami: {
      id: text,
      name: text,
      scope: text,
      via: text,
      expires_at: text,
      server: { version: text, hostname: text, started_at: text },
    },
    'audit.list': [
      {
        chain: text,
        seq: 1,
        at: text,
        principal: text,
        owner: text,
        via: text,
        operation: text,
        target: text,
        detail: { [text]: text, list: [text] },
      },
    ],
    'seal.exported': { key_id: text, file: text, text: null },
    ...hostileBackups(text),
    'audit.head': [{ chain: text, seq: 1, hash: text }],
    doctor: [{ name: text, status: text, detail: text }],
    'token.created': { ...token, token: text },
    'token.list': [token],
    'token.get': token,
  };
}
