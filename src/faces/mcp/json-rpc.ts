/** Messages of the endpoint, and the answers that are not made by the SDK. */

/** What the SDK is asked with: the message, and the headers that belong to it. */
export interface McpMessage {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Codes of JSON-RPC; those above -32100 are left to implementations. */
export const RPC = { parse: -32_700, invalidParams: -32_602, noMethod: -32_601, refused: -32_000 } as const;

type RequestId = string | number | null;

export function rpcError(code: number, message: string, id: RequestId = null): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`;
}

/** The id of a message as it came, which need not be a valid one. */
export function idOf({ id }: Readonly<Record<string, unknown>>): RequestId {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
