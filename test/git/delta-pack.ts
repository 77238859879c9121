import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

const BLOB = 3
const REF_DELTA = 7
const MAX_COPY = 0xffffff

/**
 * A pack of one file, and of further ones that differ from it in their last bytes: each takes git the whole
 * size in memory and time.
 */
export function deltaPack({ deltas, bytes }: { deltas: number; bytes: number }): Buffer {
  const base = Buffer.alloc(bytes, 'a')
  const name = createHash('sha1').update(`blob ${bytes}\0`).update(base).digest()
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(deltas + 1, 8)
  const objects = [head, typeAndSize(BLOB, bytes), deflateSync(base)]
  for (let n = 0; n < deltas; n++) {
    const delta = deltaOf(bytes, n)
    objects.push(typeAndSize(REF_DELTA, delta.length), name, deflateSync(delta))
  }
  const content = Buffer.concat(objects)
  return Buffer.concat([content, createHash('sha1').update(content).digest()])
}

function deltaOf(bytes: number, n: number): Buffer {
  const parts = [size(bytes), size(bytes + 4)]
  for (let at = 0; at < bytes; at += MAX_COPY) {
    const copy = Buffer.alloc(8, 0xff)
    copy.writeUInt32LE(at, 1)
    copy.writeUIntLE(Math.min(MAX_COPY, bytes - at), 5, 3)
    parts.push(copy)
  }
  const added = Buffer.alloc(5, 4)
  added.writeUInt32BE(n, 1)
  return Buffer.concat([...parts, added])
}

/** Seven bits a byte, the lowest first. */
function size(value: number): Buffer {
  const out: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...out, rest])
    out.push((rest % 128) | 0x80)
  }
}

function typeAndSize(type: number, value: number): Buffer {
  const first = (type << 4) | (value % 16)
  return value < 16
    ? Buffer.from([first])
    : Buffer.concat([Buffer.from([first | 0x80]), size(Math.floor(value / 16))])
}
