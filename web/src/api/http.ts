/**
 * Plain requests to the server that served the page: what goes over REST while no socket stands.
 *
 * The device's secret travels in a header, never in an address.
 */
export class HttpError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Says something to a conversation when no socket stands. */
export async function sendInput(
  token: string | null,
  conversationId: string,
  content: string,
  clientMessageId: string,
): Promise<void> {
  await post(
    `/api/sessions/${encodeURIComponent(conversationId)}/input`,
    { content, client_message_id: clientMessageId },
    token,
  );
}

async function post(path: string, body: unknown, token: string | null): Promise<unknown> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), cache: "no-store" });
  const text = await answer.text();
  const value: unknown = text === "" ? {} : parse(text);
  if (!answer.ok) {
    const error = (value as { error?: unknown } | null)?.error;
    throw new HttpError(typeof error === "string" ? error : "", answer.status);
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
