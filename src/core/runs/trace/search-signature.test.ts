import { expect, test } from 'vitest'
import { searchBits, searchSignature } from './search-signature.ts'

const may = (text: string, q: string) => {
  const signature = searchSignature(text)
  return searchBits(q).every(bit => {
    const at = bit & (signature.length * 8 - 1)
    return ((signature[at >> 3] ?? 0) & (1 << (at & 7))) !== 0
  })
}
const words = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `w${((from + n) * 2_654_435_761) % 999_983}`)

test('no text that contains a search is excluded, of any size and case', () => {
  for (const size of [0, 1, 10, 1_000, 30_000]) {
    const text = `${words(0, size).join(' ')} An ERROR: Ünit 日本語 "quotes" \\n`
    for (const q of [
      'error',
      'ERROR:',
      'nit',
      'Ünit',
      'ünit',
      '日本語',
      'ÜNIT',
      'ü',
      'Ün',
      'n',
      'ER',
      '',
      '"quotes"',
      text.slice(-40),
      ...words(0, size).slice(-5),
    ]) {
      expect({ size, q, may: may(text, q) }).toEqual({ size, q, may: true })
    }
  }
})

test('most texts without a word are excluded, also large ones', () => {
  for (const size of [200, 2_000]) {
    const excluded = Array.from({ length: 100 }, (_, n) => words(n * size, (n + 1) * size).join(' ')).filter(
      text => !may(text, 'zebra crossing'),
    )
    expect(excluded.length).toBeGreaterThan(90)
  }
})

test('a signature is small beside its text', () => {
  const text = words(0, 300).join(' ')
  expect(searchSignature(text).length).toBeLessThan(text.length / 2)
  expect(searchSignature('x'.repeat(100_000)).length).toBe(8)
})

test('words of one or two characters and of other alphabets exclude texts, in any case', () => {
  const text = words(0, 200).join(' ')
  for (const q of ['z', 'qz', 'ж', 'ошибка', 'ΣΊΣΥΦΟΣ', '😀'])
    expect({ q, may: may(text, q) }).toEqual({ q, may: false })
  for (const q of ['ОШИБКА', 'σίσυφοσ', 'σίσυφος', 'ΣΊΣΥΦΟΣ', '😀'])
    expect({ q, may: may('Ошибка Σίσυφος 😀', q) }).toEqual({ q, may: true })
})

test('a search with letters whose case is folded as pairs excludes nothing by them', () => {
  expect(searchBits('𐐀')).toEqual([])
  expect(searchBits('i̇x')).toEqual([])
})
