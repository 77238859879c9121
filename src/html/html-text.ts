import { createThreads, type ThreadEnd } from './on-thread.ts'

const TIMEOUT_MS = 10_000
/** Lists and links can make a text much longer than its page. */
export const MAX_TEXT_CHARS = 4 * 1024 ** 2

type Page = { html: string; url: string; max_chars: number }
/** `cut`: the text was longer. */
type HtmlText = { text: string; cut: boolean }

const convert = createThreads<Page, HtmlText>(new URL('./thread.ts', import.meta.url), {
  max_threads: 2,
  timeout_ms: TIMEOUT_MS,
})

/**
 * Returns the text of an HTML page, with its links resolved against `url`; not ok: that failed or took too
 * long. One page of each organization is converted at a time. Rejects with the reason of `signal`.
 */
export const htmlText = (
  organization_id: number,
  { html, url }: { html: string; url: string },
  signal: AbortSignal,
): Promise<ThreadEnd<HtmlText>> => convert({ html, url, max_chars: MAX_TEXT_CHARS }, organization_id, signal)
