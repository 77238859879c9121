/** The first and the last half of what is longer than `max` bytes; what is not, as it is. */
export function headAndTail(bytes: Uint8Array, max: number): Uint8Array {
  if (bytes.length <= max) return bytes
  const head = Math.ceil(max / 2)
  return Buffer.concat([bytes.subarray(0, head), bytes.subarray(bytes.length - (max - head))])
}
