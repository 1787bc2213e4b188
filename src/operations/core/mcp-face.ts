import { isNone, type NoFace } from './http-face.ts';

/** A tool of the agent endpoint: what it is called, and in what it differs from its row. Data only. */
export interface McpTool {
  /** Noun and verb with an underscore. */
  readonly tool: string;
  /** In place of the summary of the row. */
  readonly summary?: string;
  /** Fields with a fixed value; they become no arguments. */
  readonly preset?: Readonly<Record<string, string>>;
  /** It changes and removes nothing that exists. A read never does, so only writes have it. */
  readonly additive?: true;
}

/** One tool, or several of the same operation. */
export type McpFace = McpTool | { readonly tools: readonly McpTool[] };

export function toolsOf(mcp: McpFace | NoFace): readonly McpTool[] {
  if (isNone(mcp)) return [];
  return 'tools' in mcp ? mcp.tools : [mcp];
}
