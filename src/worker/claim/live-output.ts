import type { ToolCall } from '../../model/port.ts'
import type { Claim } from './run-writer.ts'

/** One decoder a call, so that a character cut between two chunks is not broken. */
export function liveOutput(claim: Claim): (call: ToolCall, chunk: Uint8Array) => void {
  let current: { id: string; decoder: InstanceType<typeof TextDecoder> } | null = null
  return (call, chunk) => {
    if (current?.id !== call.id) current = { id: call.id, decoder: new TextDecoder('utf-8', { fatal: false }) }
    claim.liveText({ event: 'output', call_id: call.id, text: current.decoder.decode(chunk, { stream: true }) })
  }
}
