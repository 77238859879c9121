import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decisionFiles, decisionIndex, decisionsIn, INDEX_FILE } from '../scripts/write-decisions.ts'

const clone = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, clone), 'utf8')
// CHANGELOG.md is history.
const tracked = execFileSync('git', ['ls-files'], { cwd: clone, encoding: 'utf8' }).split('\n')
const sources = tracked.filter(
  path => /\.(tsx?|cjs|mjs|md|sh|sql|yaml)$/.test(path) && path !== 'CHANGELOG.md',
)

/**
 * Returns every match of `pattern` in the sources, with its file; the first group of `pattern` is the
 * citation.
 */
const citations = (pattern: RegExp) =>
  sources.flatMap(path => [...read(path).matchAll(pattern)].map(([, citation = '']) => ({ path, citation })))

test('every section of the specification that a comment cites exists', () => {
  const sections = new Set(
    [...read('docs/specification.md').matchAll(/^## ([a-z-]+)$/gm)].map(([, slug]) => slug),
  )
  const cited = citations(/specification\.md(#[a-z-]+(?:, #[a-z-]+)*)/g).flatMap(({ path, citation }) =>
    citation.split(', ').map(slug => ({ path, slug: slug.slice(1) })),
  )
  expect(cited.length).toBeGreaterThan(100)
  expect(cited.filter(({ slug }) => !sections.has(slug))).toEqual([])
})

const decisions = decisionFiles().flatMap(decisionsIn)

test('no two decisions have the same slug', () => {
  const counts = Map.groupBy(decisions, ({ slug }) => slug)
  expect([...counts.values()].filter(entries => entries.length > 1)).toEqual([])
})

test('docs/decisions.md lists every decision: after a change run `node scripts/write-decisions.ts`', () => {
  expect(readFileSync(INDEX_FILE, 'utf8')).toBe(decisionIndex())
})

test('every decision that a comment or a document cites exists', () => {
  const slugs = new Set(decisions.map(({ slug }) => slug))
  const cited = citations(/decisions(?:\/[a-z-]+)?\.md#([a-z0-9-]+)/g)
  expect(cited.length).toBeGreaterThan(10)
  expect(cited.filter(({ citation }) => !slugs.has(citation))).toEqual([])
})

test('nothing cites a decision by its number', () => {
  expect(citations(/\b(decisions?(?:\.md\S*)? \(?§?\d+)/gi)).toEqual([])
})

test('no comment cites a section of a document that is not in the repository', () => {
  expect(citations(/\b(spec §[^.,;)]*)/g).filter(({ path }) => path !== 'test/citations.test.ts')).toEqual([])
})

/**
 * A path as in a comment: `run-object.ts` or `src/core/runs/budget/near-limits.ts`, without globs and
 * placeholders.
 */
const FILE_NAME = /(?<![\w./*@<{-])[\w-]+(?:\/[\w.-]+)*\.(?:tsx?|cjs|mjs|sh)\b(?![\w/.*-])/g

test('every file that a comment names exists', () => {
  const endings = new Set(
    tracked.flatMap(path => path.split('/').map((_, n, parts) => parts.slice(n).join('/'))),
  )
  const comments = citations(/((?:^[ \t]*\/?\*| \/\/ ).*$)/gm).filter(({ path }) => /\.tsx?$/.test(path))
  const named = comments.flatMap(({ path, citation }) =>
    (citation.match(FILE_NAME) ?? []).map(name => ({ path, name })),
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(({ name }) => !endings.has(name))).toEqual([])
})
