import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keepHeadAndTail } from './output.ts'

it('keeps everything up to the limit, and beyond it the first half and the last half', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 64 }),
      fc.array(fc.uint8Array({ maxLength: 40 })),
      (max_bytes, chunks) => {
        const all = Buffer.concat(chunks)
        const kept = keepHeadAndTail(max_bytes)
        for (const chunk of chunks) kept.add(chunk)
        const head = Math.ceil(max_bytes / 2)
        const expected =
          all.length <= max_bytes
            ? all
            : Buffer.concat([all.subarray(0, head), all.subarray(all.length - (max_bytes - head))])
        expect(kept.take()).toEqual({ output: expected, truncated: all.length > max_bytes })
        expect(kept.total).toBe(all.length)
      },
    ),
  )
})

it('shows only the output before the limit live', () => {
  const shown: Uint8Array[] = []
  const kept = keepHeadAndTail(5, chunk => shown.push(chunk))
  for (const text of ['abc', 'def', 'ghi']) kept.add(Buffer.from(text))
  expect(Buffer.concat(shown).toString()).toBe('abcde')
})

it('keeps the last bytes of a flood of small and large pieces', () => {
  const kept = keepHeadAndTail(1000)
  for (let piece = 0; piece < 10_000; piece++) kept.add(Buffer.alloc(1 + (piece % 300), piece % 251))
  kept.add(Buffer.from('the end'))
  const { output, truncated } = kept.take()
  expect(Buffer.from(output).toString('latin1')).toMatch(/the end$/)
  expect([output.length, truncated]).toEqual([1000, true])
})

it('copies the output that it keeps and shows: the same buffer may be reused', () => {
  const shown: Uint8Array[] = []
  const kept = keepHeadAndTail(8, chunk => shown.push(chunk))
  const buffer = Buffer.alloc(4)
  for (const text of ['abcd', 'efgh', 'ijkl']) {
    buffer.write(text)
    kept.add(buffer)
  }
  expect(Buffer.from(kept.take().output).toString()).toBe('abcdijkl')
  expect(Buffer.concat(shown).toString()).toBe('abcdefgh')
})
