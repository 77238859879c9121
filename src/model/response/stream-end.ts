/** Longer than every line that is searched for; of other lines no more than this is kept. */
const HEAD_BYTES = 64
/**
 * The end of chat completions, also behind gateways of other protocols. Nothing follows it, so its line break
 * is not awaited.
 */
const DONE = /^data: ?\[DONE\]\s*$/
/**
 * The last event of a Claude message and of a response of OpenAI; its data follow, then an empty line. Gemini
 * names no event.
 */
const LAST_EVENT = /^event: ?(message_stop|response\.(completed|incomplete|failed))\s*$/

/**
 * Detects the end that an event stream announces: some servers announce it and keep the connection open.
 * To be called with every chunk in order; true as soon as the last event is whole.
 */
export function streamEndSeeker(): (chunk: Uint8Array) => boolean {
  let head = ''
  let last = false
  return chunk => {
    for (let start = 0; start < chunk.length; ) {
      const newline = chunk.indexOf(0x0a, start)
      const end = newline < 0 ? chunk.length : newline
      const wanted = Math.min(end, start + HEAD_BYTES - head.length)
      if (wanted > start) head += Buffer.from(chunk.subarray(start, wanted)).toString('latin1')
      if (DONE.test(head) || (last && newline >= 0 && head.trim() === '')) return true
      if (newline < 0) return false
      last ||= LAST_EVENT.test(head)
      head = ''
      start = newline + 1
    }
    return false
  }
}
