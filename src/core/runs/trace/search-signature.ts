/**
 * Bits of the largest signature: the text of an entry is at most about 200 KB. A power of two, as every size
 * of a signature.
 */
const MAX_BITS = 1 << 16
const MIN_BITS = 64
/** Bits of the signature per bit that is set. */
const BITS_PER_PIECE = 3
/** Pieces of a search that are compared; more would exclude hardly any further entry. */
const MAX_SEARCHED = 12
const CODES = 1 << 16
const SHORT_PIECE_SEED = 0x27d4eb2f
const ASCII = 128
/** The pairs of ASCII characters that the text in progress has had: most pieces of a large text repeat. */
const seen_pairs = new Uint8Array(ASCII * ASCII)

/**
 * Returns the signature of a text: a Bloom filter of its pieces of one, two and three characters, with their
 * case folded. A text that contains `q` has all bits of `searchBits(q)`, so that a search reads only the few
 * texts that can contain it (decisions.md#search-by-signatures).
 */
export function searchSignature(text: string): Buffer {
  const bytes = new Uint8Array(MAX_BITS / 8)
  let different = 0
  const set = (bit: number) => {
    const byte = bytes[bit >> 3] ?? 0
    const mask = 1 << (bit & 7)
    if ((byte & mask) === 0) different++
    bytes[bit >> 3] = byte | mask
  }
  seen_pairs.fill(0)
  let [first, second] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const third = folded(text.charCodeAt(at))
    const pair = at > 0 && second < ASCII && third < ASCII ? second * ASCII + third : 0
    if (pair === 0 || seen_pairs[pair] === 0) {
      set(hash(0, 0, third))
      set(hash(0, SHORT_PIECE_SEED, third))
      if (at >= 1) {
        set(hash(0, second, third))
        set(hash(SHORT_PIECE_SEED, second, third))
      }
      seen_pairs[pair] = 1
    }
    if (at >= 2) set(hash(first, second, third))
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
 * Returns the bits that the signature of each text with `q` has; a signature of n bits has them modulo n.
 * Empty when nothing is known: `q` is empty, or consists of characters whose other case has other UTF-16
 * halves.
 */
export function searchBits(q: string): number[] {
  const codes = Array.from({ length: q.length }, (_, at) =>
    isFoldedByUnit(q, at) ? folded(q.charCodeAt(at)) : null,
  )
  const [first = null, second = null] = codes
  if (codes.length === 1) return first === null ? [] : [hash(0, 0, first), hash(0, SHORT_PIECE_SEED, first)]
  if (codes.length === 2)
    return first === null || second === null
      ? []
      : [hash(0, first, second), hash(SHORT_PIECE_SEED, first, second)]
  const pieces = new Set<number>()
  for (let at = 2; at < codes.length; at++) {
    const [one = null, two = null, three = null] = codes.slice(at - 2, at + 1)
    if (one !== null && two !== null && three !== null) pieces.add(hash(one, two, three))
  }
  const all = [...pieces]
  const step = Math.max(1, all.length / MAX_SEARCHED)
  return Array.from({ length: Math.min(all.length, MAX_SEARCHED) }, (_, n) => all[Math.floor(n * step)] ?? 0)
}

/**
 * Whether the case of the character at `at` is folded unit by unit: not that of pairs, nor of the dot that
 * belongs to a lower-case İ.
 */
function isFoldedByUnit(q: string, at: number): boolean {
  const unit = q.charAt(at)
  if (unit === '\u0307') return false
  if (!/[\ud800-\udfff]/.test(unit)) return true
  const pair = String.fromCodePoint(q.codePointAt(/[\udc00-\udfff]/.test(unit) ? at - 1 : at) ?? 0)
  return pair.toUpperCase() === pair.toLowerCase()
}

/** The folded form of each code unit that was seen, from 128 on; 0: not seen yet. */
const known = new Uint16Array(CODES)

function folded(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code
  const found = known[code]
  if (found !== undefined && found !== 0) return found
  const unit = String.fromCharCode(code)
  const upper = unit.toUpperCase()
  const fold = (upper.length === 1 ? upper : unit).toLowerCase().charCodeAt(0)
  known[code] = fold
  return fold
}

function hash(first: number, second: number, third: number): number {
  const mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77) ^ Math.imul(third, 0xc2b2ae3d)
  return ((mixed ^ (mixed >>> 15)) >>> 0) & (MAX_BITS - 1)
}
