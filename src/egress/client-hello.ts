/**
 * The content of the first bytes of a tunnel; `needs`: the minimum number of bytes needed to parse it.
 * `hidden`: the greeting also has an encrypted name (ECH).
 */
type Hello =
  | { kind: 'incomplete'; needs: number }
  | { kind: 'other' }
  | { kind: 'hello'; server_name: string | null; hidden: boolean }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const ENCRYPTED_HELLO = 0xfe0d
/** More than any client sends; bounds the cost for a client that sends a byte at a time. */
const max = { bytes: 32 * 1024, records: 8 }
const other: Hello = { kind: 'other' }

/** Parses a TLS ClientHello, which may span several records. `other`: not TLS, or malformed. */
export function readHello(bytes: Buffer): Hello {
  const parts: Buffer[] = []
  for (let at = 0; parts.length < max.records && at < max.bytes; ) {
    const header = bytes.subarray(at, at + 5)
    if ((header.length > 0 && header[0] !== HANDSHAKE) || (header.length > 1 && header[1] !== 3)) return other
    if (header.length < 5) return { kind: 'incomplete', needs: at + 5 }
    const length = header.readUInt16BE(3)
    if (length === 0 || length > 0x4000) return other
    const body = bytes.subarray(at + 5, at + 5 + length)
    if (parts.length === 0 && body.length > 0 && body[0] !== CLIENT_HELLO) return other
    at += 5 + length
    if (body.length < length) return { kind: 'incomplete', needs: at }
    parts.push(body)
    const message = Buffer.concat(parts)
    const end = message.length < 4 ? Number.POSITIVE_INFINITY : 4 + message.readUIntBE(1, 3)
    if (message.length >= end) return readMessage(message.subarray(4, end))
  }
  return other
}

function readMessage(body: Buffer): Hello {
  try {
    let at = 2 + 32
    at += 1 + body.readUInt8(at)
    at += 2 + body.readUInt16BE(at)
    at += 1 + body.readUInt8(at)
    // Older clients have no extensions at all.
    if (at === body.length) return { kind: 'hello', server_name: null, hidden: false }
    const end = at + 2 + body.readUInt16BE(at)
    if (end !== body.length) return other
    let server_name: string | null = null
    let hidden = false
    for (at += 2; at < end; ) {
      const type = body.readUInt16BE(at)
      const length = body.readUInt16BE(at + 2)
      const content = body.subarray(at + 4, at + 4 + length)
      if (content.length !== length) return other
      if (type === ENCRYPTED_HELLO) hidden = true
      if (type === SERVER_NAME) {
        const name = readName(content)
        // A duplicate or empty extension: readers of the first one and of the last one would disagree.
        if (name === null || server_name !== null) return other
        server_name = name
      }
      at += 4 + length
    }
    return at === end ? { kind: 'hello', server_name, hidden } : other
  } catch (error) {
    if (error instanceof RangeError) return other
    throw error
  }
}

/** The extension must hold exactly one name. */
function readName(content: Buffer): string | null {
  if (content.readUInt16BE(0) !== content.length - 2 || content.readUInt8(2) !== 0) return null
  if (content.readUInt16BE(3) !== content.length - 5 || content.length === 5) return null
  return content.subarray(5).toString('latin1').toLowerCase()
}
