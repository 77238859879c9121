import type { ToolCall } from '../../model/port.ts'
import type { LiveChannel } from './live-channel.ts'

/**
 * Returns a sink for output of tools. Each call has its own decoder, so that a character split between two
 * chunks is not broken.
 */
export function liveOutput(live: LiveChannel): (call: ToolCall, chunk: Uint8Array) => void {
  let current: { id: string; decoder: InstanceType<typeof TextDecoder> } | null = null
  return (call, chunk) => {
    if (current?.id !== call.id)
      current = { id: call.id, decoder: new TextDecoder('utf-8', { fatal: false }) }
    live.addText({ event: 'output', call_id: call.id, text: current.decoder.decode(chunk, { stream: true }) })
  }
}
