import type { IncomingMessage } from 'node:http'

/** What of a body is looked at, from its beginning. */
const MOST_BYTES = 64 * 1024 ** 2
/** A value at the edge of a piece stands in the next one too. */
const OVERLAP = 8 * 1024

/** The first line and the headers of a request. */
export const headOf = ({ method, url, rawHeaders }: IncomingMessage): string => [method, url, ...rawHeaders].join('\n')

/** Tells the body of a request, a piece at a time, as it goes by. */
export function listenTo(incoming: IncomingMessage, say: (text: string) => void): void {
  let [before, bytes] = ['', 0]
  incoming.on('data', (chunk: Buffer) => {
    if (bytes >= MOST_BYTES) return
    bytes += chunk.length
    const text = before + chunk.toString('latin1')
    say(text)
    before = text.slice(-OVERLAP)
  })
}
