/** A page as text. `cut`: it is longer than what was read. `error`: why there is none, a sentence. */
export type WebPage = { url: string; status: number; text: string; cut: boolean } | { error: string }

/** Reads a page of the web for the agent. Rejects with the reason of `signal` only. */
export type WebAccess = (url: string, signal: AbortSignal) => Promise<WebPage>
