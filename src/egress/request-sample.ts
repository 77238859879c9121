import type { IncomingMessage } from 'node:http'

/** How much of a body is sampled, from its beginning. */
const MAX_SAMPLED_BYTES = 64 * 1024 ** 2
/** Pieces overlap, so that a value at the edge of one is whole in the next. */
const OVERLAP = 8 * 1024

/** Returns the first line and the headers of a request. */
export const headOf = ({ method, url, rawHeaders }: IncomingMessage): string =>
  [method, url, ...rawHeaders].join('\n')

/** Reports the body of a request piece by piece while it is forwarded. */
export function sampleBody(incoming: IncomingMessage, onText: (text: string) => void): void {
  let [before, bytes] = ['', 0]
  incoming.on('data', (chunk: Buffer) => {
    if (bytes >= MAX_SAMPLED_BYTES) return
    bytes += chunk.length
    const text = before + chunk.toString('latin1')
    onText(text)
    before = text.slice(-OVERLAP)
  })
}
