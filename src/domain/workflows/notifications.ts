import { type NotificationRow, PLAIN } from '../notify/row.ts';

/** A step of a run has no job: it could not be queued. */
interface FailedFacts {
  readonly workflow: string;
  readonly runId: string;
  readonly step: string;
}

const workflow: NotificationRow<FailedFacts> = {
  ...PLAIN,
  words: ({ workflow: name, runId, step }, { baseUrl }) => ({
    title: `workflow:${name} failed`,
    message: `Step ${step} of run ${runId} could not be queued.`,
    priority: 4,
    tags: ['rotating_light'],
    click: `${baseUrl}/events`,
  }),
  terse: () => 'svc: 1 workflow failed',
};

export const WORKFLOW_NOTIFICATIONS = { workflow };
