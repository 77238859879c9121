import { createHash } from 'node:crypto'
import { setImmediate as nextTick } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { packDelta } from './pack-delta.ts'
import type { ObjectType, WrittenObject } from './written-object.ts'

const types: Record<ObjectType, number> = { commit: 1, tree: 2, blob: 3 }
const DELTA = 7
/** Objects that are packed before the event loop gets a turn. */
const OBJECTS_AT_A_TIME = 20
/** A thread of its own takes longer for fewer bytes. */
const SMALL_BYTES = 16 * 1024
const deflateInThread = promisify(deflate)

const compress = (bytes: Buffer): Promise<Buffer> | Buffer =>
  bytes.length <= SMALL_BYTES ? deflateSync(bytes) : deflateInThread(bytes)

/**
 * Returns a pack of these objects, none of them twice. An object may be stored as its difference from its
 * base, which comes before it in this pack, or, if the pack is `thin`, is wherever the pack is used.
 */
export async function writePack(
  objects: readonly WrittenObject[],
  kind: 'thin' | 'complete',
): Promise<Buffer> {
  const header = Buffer.alloc(12)
  header.write('PACK', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(objects.length, 8)
  const parts: Buffer[] = [header]
  const inside = new Set(objects.map(({ sha }) => sha))
  const written = new Set<string>()
  for (const { base, ...object } of objects) {
    // Two versions of a file may have each other as base.
    const usable = base !== null && (written.has(base.sha) || (kind === 'thin' && !inside.has(base.sha)))
    parts.push(...(await entryOf({ ...object, base: usable ? base : null })))
    written.add(object.sha)
    if (written.size % OBJECTS_AT_A_TIME === 0) await nextTick()
  }
  const content = Buffer.concat(parts)
  return Buffer.concat([content, createHash('sha1').update(content).digest()])
}

async function entryOf({ type, bytes, base }: WrittenObject): Promise<Buffer[]> {
  const delta = base === null ? null : packDelta(base.bytes, bytes)
  if (base === null || delta === null) return [entryHeader(types[type], bytes.length), await compress(bytes)]
  return [entryHeader(DELTA, delta.length), Buffer.from(base.sha, 'hex'), await compress(delta)]
}

/** Type and length: four bits of the length in the first byte, then groups of seven, the lowest first. */
function entryHeader(type: number, length: number): Buffer {
  const bytes: number[] = []
  let byte = (type << 4) | (length & 15)
  for (let rest = Math.floor(length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80)
    byte = rest & 127
  }
  return Buffer.from([...bytes, byte])
}
