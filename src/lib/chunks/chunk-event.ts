export const CHUNK_STREAMS = ['stdout', 'stderr', 'system'] as const;
export type ChunkStream = (typeof CHUNK_STREAMS)[number];

export type ChunkEvent<S extends string = string> =
  | { seq: number; at: string; type: 'state'; state: S; exit_code: number | null }
  | { seq: number; at: string; type: 'log'; stream: ChunkStream; text: string }
  | { seq: number; at: string; type: 'progress'; play: string; task: string };
