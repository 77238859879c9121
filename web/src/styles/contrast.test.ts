import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const css = ['app.css', 'ansi.css']
  .map(name => readFileSync(new URL(name, import.meta.url), 'utf8'))
  .join('\n')
const pairs = new Map(
  [
    ...css.matchAll(/(--color-[a-z]+|\.ansi-[a-z-]+-fg)[\s:{]+(?:color: )?light-dark\((#\w{6}), (#\w{6})\)/g),
  ].map(m => [m[1] ?? '', [m[2] ?? '', m[3] ?? '']]),
)

/** Relative luminance of WCAG 2.2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(at => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

const backgrounds = ['canvas', 'surface', 'sunken']
const texts = ['ink', 'muted', 'faint', 'accent', 'ok', 'bad', 'warn', 'paused'].map(
  name => `--color-${name}`,
)
const terminal = [...pairs.keys()].filter(name => name.startsWith('.ansi-'))

test.each([...texts, ...terminal])('%s is readable on every background, light and dark', name => {
  const surfaces = name.startsWith('.ansi-') ? ['sunken'] : backgrounds
  for (const surface of surfaces) {
    for (const theme of [0, 1]) {
      const [text, background] = [
        pairs.get(name)?.[theme] ?? '',
        pairs.get(`--color-${surface}`)?.[theme] ?? '',
      ]
      expect(
        contrast(text, background),
        `${name} ${text} on ${surface} ${background}`,
      ).toBeGreaterThanOrEqual(4.5)
    }
  }
})

test('all sixteen colours of a terminal are checked', () => {
  expect(terminal).toHaveLength(16)
})
