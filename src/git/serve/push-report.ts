import { bandLines, FLUSH, pktLine } from '../process/pkt-line.ts'
import type { ReceivedPush } from './serve-push.ts'

/**
 * Returns the response to a push as git reads it. `notes`: lines for the person who pushed, after the output
 * of the repository's hooks.
 */
export function pushReport(received: ReceivedPush, notes: string[]): Buffer {
  const { capabilities, commands, unpack, refused, hook_output } = received
  if (commands.length === 0) return Buffer.alloc(0)
  const lines = commands.map(({ ref }) => {
    const why = refused.get(ref)
    return pktLine(why == null ? `ok ${ref}\n` : `ng ${ref} ${oneLine(why)}\n`)
  })
  const wanted = capabilities.has('report-status')
  const report = wanted
    ? Buffer.concat([pktLine(`unpack ${unpack === null ? 'ok' : oneLine(unpack)}\n`), ...lines, FLUSH])
    : Buffer.alloc(0)
  if (!capabilities.has('side-band-64k')) return report
  const reason_text = [hook_output, ...notes].filter(text => text !== '').map(text => `${text}\n`)
  return Buffer.concat([bandLines(2, Buffer.from(reason_text.join(''))), bandLines(1, report), FLUSH])
}

const oneLine = (text: string) => text.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 500)
