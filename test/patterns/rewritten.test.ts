import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quoted } from '../../src/agent/phases/change-text.ts'
import { leftOutBy } from '../../src/core/repositories/left-out.ts'
import { inertMarks } from '../../src/core/text/instruction-block.ts'
import { plainDecimal } from '../../src/core/text/plain-decimal.ts'
import { jsoncOf } from '../../src/setup-detection/tree.ts'

/**
 * Patterns that were slow for some texts, and what replaced them: the same results for texts composed of the
 * parts that matter.
 */
const textOf = (...parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map(all => all.join(''))
const same = (
  texts: fc.Arbitrary<string>,
  before: (text: string) => unknown,
  after: (text: string) => unknown,
) =>
  fc.assert(
    fc.property(texts, text => {
      expect(after(text)).toEqual(before(text))
    }),
    { numRuns: 2_000 },
  )

test('marks of instructions and of quotations', () => {
  const marks = /<(?=\s*\/?\s*repository_instructions)|\[(?=\s*these instructions of the repository)/gi
  const texts = textOf(
    '<',
    ' ',
    '\n',
    '/',
    'repository_instructions',
    '[',
    'these instructions of the repository',
    'x',
  )
  same(texts, text => text.replace(marks, '‹'), inertMarks)
  const tags = /<(?=\s*\/?\s*(?:commits|change|answer|template|title|description)\b)/gi
  same(
    textOf('<', ' ', '\t', '/', 'change', 'title', 'x', '>'),
    text => `<change>\n${text.replace(tags, '‹')}\n</change>`,
    text => quoted('change', text),
  )
})

test('zeros at the end of decimals', () =>
  same(
    textOf('0', '5', '00', '.').filter(text => text.includes('.')),
    text => text.replace(/\.?0+$/, ''),
    plainDecimal,
  ))

test('submodules and files of Git LFS', () => {
  const before = (modules: string, attributes: string) => {
    const paths = [...modules.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]{1,200}?)"?[ \t]*$/gm)].map(
      ([, path = '']) => path,
    )
    // A path of blanks was reported, which no submodule has.
    const submodules = paths.map(path => path.trim()).filter(path => path !== '')
    const lfs = /^[^#\n]*\sfilter=lfs(\s|$)/m.test(attributes)
    return submodules.length === 0 && !lfs ? null : { submodules, lfs }
  }
  const modules = textOf('path', ' = ', '=', 'a', 'b c', '\t', '\n', '\nurl = x\n', '\npath = "q"')
  same(
    modules,
    text => before(text, ''),
    text => leftOutBy(text, ''),
  )
  same(
    textOf('*.bin', ' filter=lfs', ' diff=lfs', ' ', '#', '\n', 'x'),
    text => before('', text),
    text => leftOutBy('', text),
  )
})

test('comments of JSON', () => {
  const before = (text: string) =>
    text.replace(
      /("(?:\\[\s\S]|[^"\\])*"?)|\/\/[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)/g,
      (_, string?: string) => string ?? ' ',
    )
  const texts = textOf('{', '}', '"a"', ':', '1', ',', '/*', '*/', '//', '\n', '"', '\\')
  same(texts, text => jsoncOf(before(text)), jsoncOf)
})
