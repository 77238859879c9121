import { expect, test } from 'vitest'
import { languageOf } from './language.ts'

test('the language of a file is known by its ending', () => {
  expect(languageOf('src/a.test.ts')).toBe('typescript')
  expect(languageOf('App.TSX')).toBe('tsx')
  expect(languageOf('Makefile')).toBeNull()
  expect(languageOf('a.constructor')).toBeNull()
})
