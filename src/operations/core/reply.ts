import type { Caller } from '../../domain/access/caller.ts';
import { type Causes, subjectOf } from '../../domain/events/causes.ts';
import type { JobEvent } from '../../domain/jobs/job.ts';
import { leaveCause } from '../../store/events/causes.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { ViewData, ViewItem, ViewName } from '../../views/views.ts';

/** One event of a stream of server-sent events; without `id` it is no point to resume from. */
export interface StreamEvent {
  readonly event: string;
  readonly id?: number;
  readonly data: unknown;
}

/** What an operation answers. Built by the functions below, so that kind and data belong together. */
export type Reply =
  /** `status` where it is not that of the row: one of its `otherStatuses`. */
  | { readonly shape: 'one'; readonly kind: ViewName; readonly data: unknown; readonly status?: number }
  /** A list too long to hold: batches of items, sent while they are read. */
  | { readonly shape: 'batches'; readonly kind: ViewName; readonly batches: AsyncIterable<readonly unknown[]> }
  /** The JSON, in UTF-8, of data that was projected when it was stored, and is sent without being read again. */
  | { readonly shape: 'encoded'; readonly kind: ViewName; readonly json: Buffer }
  | { readonly shape: 'stream'; readonly events: (signal: AbortSignal) => AsyncIterable<StreamEvent> }
  | { readonly shape: 'text'; readonly contentType: string; readonly text: string }
  | { readonly shape: 'none' };

export function reply<V extends ViewName>(kind: V, data: ViewData<V>): Reply {
  return { shape: 'one', kind, data };
}

export function replyBatches<V extends ViewName>(kind: V, batches: AsyncIterable<readonly ViewItem<V>[]>): Reply {
  return { shape: 'batches', kind, batches };
}

export function replyEncoded(kind: ViewName, json: Buffer): Reply {
  return { shape: 'encoded', kind, json };
}

export function replyStream(events: (signal: AbortSignal) => AsyncIterable<StreamEvent>): Reply {
  return { shape: 'stream', events };
}

/** 204: the thing is done and there is nothing to show. */
export const replyNone: Reply = { shape: 'none' };

/** What a write leaves: its answer, and its audit row beside who and when. */
export interface Written {
  readonly reply: Reply;
  readonly audit: AuditFacts;
  /** It made no job, where the row says that it may make none. */
  readonly jobless?: true;
}

/** Who acted, as a row of the ledger has it. */
export function actorOf({ name, owner, via }: Record<'name' | 'owner' | 'via', string>) {
  return { principal: name, owner, via };
}

/** Identifiers, states, names and counts only. */
interface AuditFacts {
  readonly target: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Records a write, in its transaction: in the ledger, and as a cause of what later events say of the thing. */
export async function recordWrite(
  tx: Tx,
  { id, causes }: { readonly id: string; readonly causes: Causes },
  caller: Caller,
  audit: AuditFacts,
): Promise<void> {
  tx.record({ ...actorOf(caller), operation: id, ...audit });
  if ('none' in causes || causes.by !== undefined || audit.target === null) return;
  await leaveCause(tx, subjectOf(causes.of, audit.target), caller.owner);
}

export function written(reply: Reply, target: string | null, detail: AuditFacts['detail'] = {}): Written {
  return { reply, audit: { target, detail } };
}

export function jobStreamEvent(event: JobEvent): StreamEvent {
  return { event: event.type, id: event.seq, data: event };
}
