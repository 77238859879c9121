import { expect, test } from 'vitest'
import type { Tool } from './proposal.ts'
import { tooOldText } from './toolchain.ts'

const text = (binary: string, wanted: string | null, version: string) => {
  const tool: Tool = { binary, wanted, from: 'pyproject.toml', package: binary }
  return tooOldText([tool], new Map([[binary, version]]))
}

test('a program that is older than required is reported with both versions', () => {
  expect(text('python3', '>=3.13', 'Python 3.11.2')).toBe(
    'pyproject.toml requires python3 >=3.13, and the installed version is Python 3.11.2.',
  )
  for (const [binary, wanted, version] of [
    ['go', '1.23.1', 'go version go1.19.8 linux/amd64'],
    ['cargo', '1.85', 'cargo 1.65.0'],
    ['php', '^8.3', 'PHP 8.2.28 (cli)'],
    ['node', '>= 26', 'v24.21.0'],
    ['java', '21', 'openjdk version "17.0.15" 2025-04-15'],
    ['perl', '5.36.1', 'Perl 5.36.0'],
  ] as const)
    expect(text(binary, wanted, version)).toContain(`requires ${binary} ${wanted}`)
})

test('one that is new enough, or of unknown version, is not', () => {
  for (const [binary, wanted, version] of [
    ['python3', '>=3.8', 'Python 3.11.2'],
    ['python3', '>=3.11', 'Python 3.11.2'],
    ['node', '^16 || >=18', 'v14.0.0'],
    ['cargo', 'nightly', 'cargo 1.65.0'],
    ['java', '1.8', 'openjdk version "17.0.15"'],
    ['go', '1.22', ''],
    ['go', null, 'go version go1.19.8'],
  ] as const)
    expect(text(binary, wanted, version)).toBeNull()
})
