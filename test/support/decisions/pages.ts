/** What pages of decision links are made of. */
import type { PagePlace } from '../../../src/faces/ingress/decision-html.ts';
import type { Asked, Question } from '../../../src/operations/approvals/decision-page.ts';
import type { Projected } from '../../../src/views/views.ts';

export const NOW = Date.UTC(2026, 10, 21, 14, 6);
export const ASKED: Asked = {
  decision: 'approve',
  jobId: 'job_01m7yd4zyke00anp2z332d2j5p',
  kind: 'apply',
  workspace: 'net',
  runbook: 'apply:net',
  planned: true,
  summary: 'frees space · DiskFull on db1',
  requestedBy: 'ci-deploy',
  because: null,
  origin: 'manual',
  rule: null,
  schedule: null,
  expiresAt: NOW + 24 * 60_000,
  now: NOW,
};
/** As long as every proof. */
export const PROOF = 'f'.repeat(64);
export const RACK: PagePlace = { host: 'rack-01', timeZone: 'UTC', consoleUrl: null };
export const NOWHERE: PagePlace = { ...RACK, host: null };
export const QUESTION: { readonly show: 'question' } & Question = {
  show: 'question',
  approvalId: 'apr_01m7yd4zyke00anp2z332d2j5p',
  asked: ASKED,
  plan: null,
  order: null,
  proof: PROOF,
  reject: null,
};
export const ORDER: Projected<'order'> = {
  job_id: ASKED.jobId,
  kind: 'command',
  inventory: 'prod',
  hosts: { count: 2, names: ['web1', 'web2'] },
  limit: 'web',
  tags: null,
  skip_tags: null,
  command: ['find', '/srv/cache', '-name', 'a b', '-delete'],
  playbook: null,
  source: null,
  source_commit: null,
  path: null,
  extra_vars: null,
  secrets: ['app/db'],
  changes: null,
  privileged: false,
  writable: ['/srv/cache'],
  egress_ports: null,
  timeout: '1h',
  summary: null,
  because: null,
  schedule: null,
  alert: {
    name: 'DiskFull',
    status: 'firing',
    severity: 'warning',
    host: 'web1',
    sender_text: { summary: 'disk 95 % full', description: null },
  },
  step: null,
};

/** With every line that an order can have beside its command. */
const WHOLE_ORDER: Projected<'order'> = {
  ...ORDER,
  tags: ['a'],
  extra_vars: { a: 'b' },
  privileged: true,
  egress_ports: [443],
  summary: 'a',
  because: 'b',
  schedule: 'c',
  alert: ORDER.alert === null ? null : { ...ORDER.alert, sender_text: { summary: 'a', description: 'b' } },
  step: { run_id: 'a', workflow: 'b', name: 'c', failed_before: [{ name: 'd', state: 'e' }] },
};

/** An order with the same text wherever one may be. */
export function orderOf(text: string): Projected<'order'> {
  return JSON.parse(JSON.stringify(WHOLE_ORDER), (key, value: unknown) =>
    typeof value === 'string' && key !== 'kind' ? text : value,
  ) as Projected<'order'>;
}

/** The visible text: without tags, and with the five escapes undone. */
export function textOf(page: string): string {
  const body = page.slice(page.indexOf('<body>')).replaceAll(/<[^>]*>/g, '');
  return body
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
