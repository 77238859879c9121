/** Bits of the largest signature: the text of an entry is at most about 200 KB. A power of two, as every size of a signature. */
const MAX_BITS = 1 << 16
const MIN_BITS = 64
/** Bits per different piece: about one bit in five is set. */
const BITS_PER_PIECE = 4
/** Pieces of a search that are compared; more would exclude hardly any further entry. */
const MAX_SEARCHED = 12

/**
 * Returns the signature of a text: a Bloom filter of its pieces of three characters, with the case of ASCII letters folded. A text that
 * contains `q` has all bits of `searchBits(q)`, so that a search reads only the few texts that can contain it (decisions.md#search-by-signatures).
 */
export function searchSignature(text: string): Buffer {
  const bytes = new Uint8Array(MAX_BITS / 8)
  let different = 0
  let [first, second] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const third = folded(text.charCodeAt(at))
    if (at >= 2) {
      const bit = hash(first, second, third) & (MAX_BITS - 1)
      const byte = bytes[bit >> 3] ?? 0
      const mask = 1 << (bit & 7)
      if ((byte & mask) === 0) different++
      bytes[bit >> 3] = byte | mask
    }
    first = second
    second = third
  }
  let size = MAX_BITS
  while (size > MIN_BITS && size / 2 >= different * BITS_PER_PIECE) {
    size /= 2
    for (let at = 0; at < size / 8; at++) bytes[at] = (bytes[at] ?? 0) | (bytes[at + size / 8] ?? 0)
  }
  return Buffer.from(bytes.subarray(0, size / 8))
}

/**
 * Returns the bits that the signature of each text with `q` has; a signature of n bits has them modulo n. Empty when nothing is known: `q`
 * is shorter than three characters, or has letters beyond ASCII whose case may differ.
 */
export function searchBits(q: string): number[] {
  const pieces = new Set<number>()
  for (let at = 0; at + 3 <= q.length; at++) {
    const piece = q.slice(at, at + 3)
    if (hasOneCase(piece))
      pieces.add(hash(folded(q.charCodeAt(at)), folded(q.charCodeAt(at + 1)), folded(q.charCodeAt(at + 2))) & (MAX_BITS - 1))
  }
  const all = [...pieces]
  const step = Math.max(1, all.length / MAX_SEARCHED)
  return Array.from({ length: Math.min(all.length, MAX_SEARCHED) }, (_, n) => all[Math.floor(n * step)] ?? 0)
}

/** Whether the folded form of `text` is the same everywhere: beyond ASCII, only characters without a case are. */
function hasOneCase(text: string): boolean {
  const other = text.replace(/\p{ASCII}/gu, '')
  return other.toUpperCase() === other && other.toLowerCase() === other
}

const folded = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code)

function hash(first: number, second: number, third: number): number {
  const mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77) ^ Math.imul(third, 0xc2b2ae3d)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
