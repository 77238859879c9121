/** The first and the last bytes of a stream of any size. */
type Output = {
  /** Copies what it keeps. */
  add(chunk: Uint8Array): void
  /** The total number of bytes added. */
  readonly total: number
  take(): { output: Uint8Array; truncated: boolean }
}

/**
 * Keeps `max_bytes`: half from the beginning, half from the end. `on_output` gets a copy of the output up to
 * `max_bytes`.
 */
export function keepHeadAndTail(max_bytes: number, on_output?: (chunk: Uint8Array) => void): Output {
  const head_size = Math.ceil(max_bytes / 2)
  const head: Uint8Array[] = []
  let head_bytes = 0
  let tail: Ring | undefined
  let total = 0
  return {
    add(chunk) {
      const shown = Math.min(chunk.length, max_bytes - total)
      if (shown > 0) on_output?.(new Uint8Array(chunk.subarray(0, shown)))
      total += chunk.length
      const first = new Uint8Array(chunk.subarray(0, head_size - head_bytes))
      if (first.length > 0) head.push(first)
      head_bytes += first.length
      if (first.length === chunk.length) return
      tail ??= createRing(max_bytes - head_size)
      tail.add(chunk.subarray(first.length))
    },
    get total() {
      return total
    },
    take() {
      return { output: Buffer.concat([...head, ...(tail?.parts() ?? [])]), truncated: total > max_bytes }
    },
  }
}

type Ring = { add(chunk: Uint8Array): void; parts(): Uint8Array[] }

/** Keeps the last `size` bytes. */
function createRing(size: number): Ring {
  const bytes = new Uint8Array(size)
  let end = 0
  let full = false
  return {
    add(chunk) {
      const last = chunk.subarray(Math.max(0, chunk.length - size))
      const until_edge = last.subarray(0, size - end)
      bytes.set(until_edge, end)
      bytes.set(last.subarray(until_edge.length))
      full ||= end + last.length >= size
      end = size === 0 ? 0 : (end + last.length) % size
    },
    parts() {
      return full ? [bytes.subarray(end), bytes.subarray(0, end)] : [bytes.subarray(0, end)]
    },
  }
}
