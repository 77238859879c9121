import { type Packet, readPacket } from '../../src/git/process/pkt-line.ts'

/** Reads all packets of a complete message; null when it is cut off or malformed. */
export function readPackets(bytes: Buffer): Packet[] | null {
  const packets: Packet[] = []
  for (let at = 0; at < bytes.length; ) {
    const read = readPacket(bytes, at)
    if (read === null || read === 'more') return null
    packets.push(read.packet)
    at = read.next
  }
  return packets
}
