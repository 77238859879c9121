import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage } from '../documentation.ts'
import { clone } from '../source-tree.ts'
import { additionRows } from './rows.ts'
import { simulated_additions } from './simulated-additions.ts'

const COMPILER_TEST = 'test/additions/compiler.long.test.ts'

const rows = additionRows()
const git = (...args: string[]) => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim()

test('each row of "To add …" has a proof: a test that performs the addition, or the commit that last did it', () => {
  expect(rows.length).toBeGreaterThan(35)
  expect(rows.filter(({ proofs }) => proofs.length === 0).map(({ what }) => what)).toEqual([])
  const unknown = rows.flatMap(({ what, proofs }) =>
    proofs
      .filter(
        proof =>
          !/^[0-9a-f]{8}$/.test(proof) && !(proof.startsWith('test/') && existsSync(join(clone, proof))),
      )
      .map(proof => `${what}: ${proof}`),
  )
  expect(unknown).toEqual([])
})

// A shallow clone lacks commits, so only their form can be checked there.
test.skipIf(git('rev-parse', '--is-shallow-repository') === 'true')(
  'each commit that a row names is part of the history',
  () => {
    const history = new Set(
      git('rev-list', 'HEAD')
        .split('\n')
        .map(hash => hash.slice(0, 8)),
    )
    const commits = rows.flatMap(({ what, proofs }) =>
      proofs.filter(proof => !proof.startsWith('test/')).map(commit => ({ what, commit })),
    )
    expect(commits.length).toBeGreaterThan(10)
    expect(commits.filter(({ commit }) => !history.has(commit))).toEqual([])
  },
)

test('a row cites the test with the compiler if it simulates its addition, and marks files only then', () => {
  const simulated = simulated_additions.map(({ what }) => what)
  expect(simulated.filter(what => !rows.some(row => row.what === what))).toEqual([])
  const cited = rows.filter(({ proofs }) => proofs.includes(COMPILER_TEST)).map(({ what }) => what)
  expect(cited.toSorted()).toEqual(simulated.toSorted())
  const marked = rows.filter(({ touch }) => touch.includes('(compiler')).map(({ what }) => what)
  expect(marked.filter(what => !simulated.includes(what))).toEqual([])
})

test('each of the four ideas names the five files to read first', () => {
  const page = readPage('ARCHITECTURE.md')
  const ideas = (/\n## Four ideas\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '').split(/\n(?=\*\*)/).slice(1)
  const files = ideas.map(idea => {
    const list = /^Read (.*?)\.(?: |$)/m.exec(idea.replaceAll('.ts`', '`'))?.[1] ?? ''
    return [...list.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path)
  })
  expect(files.map(paths => paths.length)).toEqual([5, 5, 5, 5])
})
