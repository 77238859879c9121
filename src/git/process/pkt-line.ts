/** The maximum content of a packet line in git. */
const LONGEST = 65_516

export const FLUSH = Buffer.from('0000')

/** Encodes one packet line. */
export function pktLine(content: string | Uint8Array): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Encodes lines of the side band: 1 is the response itself, 2 a message for the person. */
export function bandLines(band: 1 | 2, bytes: Uint8Array): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += LONGEST - 1)
    parts.push(pktLine(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + LONGEST - 1)])))
  return Buffer.concat(parts)
}

export type Packet = { kind: 'line'; content: Buffer } | { kind: 'flush' | 'delimiter' | 'end' }

/**
 * Reads the packet that begins at `at`, and returns the position of the next one. `more`: it is incomplete.
 * Null: not a packet.
 */
export function readPacket(bytes: Buffer, at: number): { packet: Packet; next: number } | 'more' | null {
  if (bytes.length < at + 4) return 'more'
  const head = bytes.toString('latin1', at, at + 4)
  if (!/^[0-9a-fA-F]{4}$/.test(head)) return null
  const length = Number.parseInt(head, 16)
  const special = (['flush', 'delimiter', 'end'] as const)[length]
  if (special) return { packet: { kind: special }, next: at + 4 }
  if (length < 4 || length > LONGEST + 4) return null
  if (bytes.length < at + length) return 'more'
  return { packet: { kind: 'line', content: bytes.subarray(at + 4, at + length) }, next: at + length }
}
