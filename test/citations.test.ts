import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const clone = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, clone), 'utf8')
const sources = execFileSync('git', ['ls-files', 'src', 'test', 'web', 'bench', 'scripts', 'boot.cjs', 'AGENTS.md', 'ARCHITECTURE.md'], {
  cwd: clone,
  encoding: 'utf8',
})
  .split('\n')
  // Released migrations are never changed, and neither are their comments.
  .filter(path => /\.(tsx?|cjs|md)$/.test(path))

/** Every place of a source that matches, as `path: citation`. `pattern` has the citation as its first group. */
const citations = (pattern: RegExp) =>
  sources.flatMap(path => [...read(path).matchAll(pattern)].map(([, citation = '']) => ({ path, citation })))

test('every section of the specification that a comment cites exists', () => {
  const sections = new Set([...read('docs/specification.md').matchAll(/^## ([a-z-]+)$/gm)].map(([, slug]) => slug))
  const cited = citations(/specification\.md(#[a-z-]+(?:, #[a-z-]+)*)/g).flatMap(({ path, citation }) =>
    citation.split(', ').map(slug => ({ path, slug: slug.slice(1) })),
  )
  expect(cited.length).toBeGreaterThan(100)
  expect(cited.filter(({ slug }) => !sections.has(slug))).toEqual([])
})

test('every decision that a comment cites exists', () => {
  const numbers = new Set([...read('docs/decisions.md').matchAll(/^(\d+)\. /gm)].map(([, number]) => number))
  const cited = citations(/decisions? §?(\d+)/g)
  expect(cited.length).toBeGreaterThan(5)
  expect(cited.filter(({ citation }) => !numbers.has(citation))).toEqual([])
})

test('no comment cites a section of a document that is not in the repository', () => {
  expect(citations(/\b(spec §[^.,;)]*)/g).filter(({ path }) => path !== 'test/citations.test.ts')).toEqual([])
})
