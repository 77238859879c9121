import { expect, test } from 'vitest'
import { textMatches } from './text-matches.ts'

/** The matches with brackets around them. */
function marked(texts: string[], q: string, limit = 100): string[] {
  const shown = texts.map(text => [...text])
  for (const match of textMatches(texts, q, limit)) {
    for (const { text, start, end } of match) {
      const chars = shown[text] ?? []
      chars[start] = `[${chars[start]}`
      chars[end - 1] += ']'
    }
  }
  return shown.map(chars => chars.join(''))
}

test('matches are found regardless of case, none overlaps another', () => {
  expect(marked(['An Error, an ERROR'], 'error')).toEqual(['An [Error], an [ERROR]'])
  expect(marked(['aaaa'], 'aa')).toEqual(['[aa][aa]'])
})

test('a match may span several texts', () => {
  expect(marked(['no er', 'r', 'or he', 're'], 'error')).toEqual(['no [er]', '[r]', '[or] he', 're'])
})

test('letters whose lower case is longer do not shift what follows', () => {
  expect(marked(['İİ Error'], 'error')).toEqual(['İİ [Error]'])
})

test('there are at most as many matches as requested, and none for an empty text', () => {
  expect(marked(['x x x'], 'x', 2)).toEqual(['[x] [x] x'])
  expect(textMatches(['x'], '', 5)).toEqual([])
})
