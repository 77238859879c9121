import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clone, sourceFiles } from '../source-tree.ts'

/** Tests that prove the outcome of an attack without naming it: a file, and words of a test in it. */
const unnamed: Record<string, [file: string, words: string][]> = {
  A30: [['test/sandbox/limits', '/dev/shm/f']],
  B38: [['test/sandbox/lifecycle', 'never runs agents as root']],
  D75: [['test/git/bundles', 'a sound bundle is seen by its own run alone until it was pushed']],
  D77: [
    ['src/git/refs/repository-url', 'F123 refused'],
    ['test/git/merge', '--upload-pack=x'],
  ],
  D79: [['test/git/remotes/http-remotes', 'no branch but that of a run is ever pushed']],
  D80: [['test/runs/git/approve-push', 'a change of what CI does waits for a person']],
  E131: [['test/secrets/canary', 'in a request of plain HTTP']],
  F144: [
    ['src/redaction/redact', 'coloured by grep'],
    ['src/redaction/redact', 'base32 behind'],
  ],
}

const page = readFileSync(join(clone, 'docs/security/attacks.md'), 'utf8')
const listed = [...page.matchAll(/^\| ([A-F]\d+) \| .* \| (.*) \|$/gm)].map(([, id = '', outcome = '']) => ({
  id,
  outcome,
}))
const tests = ['src', 'test', 'web/src'].flatMap(folder =>
  sourceFiles(folder, ['.test.ts', 'every-guarantee.ts']),
)

/** The attacks that names of tests begin with: "A01–A04: …", "F94 F95 …". */
function namedIn(text: string): string[] {
  const names = text.matchAll(/['"`]((?:[A-F]\d{2,3}(?:–[A-F]\d{2,3})?(?:, |: | ))+)/g)
  return [...names].flatMap(([, ids = '']) =>
    [...ids.matchAll(/([A-F])(\d+)(?:–[A-F](\d+))?/g)].flatMap(([, section = '', first = '', last = first]) =>
      Array.from(
        { length: Number(last) - Number(first) + 1 },
        (_, at) => `${section}${String(Number(first) + at).padStart(2, '0')}`,
      ),
    ),
  )
}

test('every attack of the page has a test or no target, and every attack that a test names is on the page', () => {
  const ids = listed.map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(100)
  expect(new Set(ids).size).toBe(ids.length)
  const named = new Set(tests.flatMap(({ text }) => namedIn(text)))
  const tried = listed.filter(({ outcome }) => !outcome.startsWith('no target: ')).map(({ id }) => id)
  expect(tried.filter(id => !named.has(id) && !(id in unnamed))).toEqual([])
  expect([...named, ...Object.keys(unnamed)].filter(id => !tried.includes(id))).toEqual([])
})

test('the tests that do not name their attack are where the table expects them', () => {
  const missing = Object.entries(unnamed).flatMap(([id, proofs]) =>
    proofs
      .filter(
        ([file, words]) =>
          !tests.some(
            ({ path, text }) => path.replace(/(\.long)?\.test\.ts$/, '') === file && text.includes(words),
          ),
      )
      .map(proof => `${id}: ${proof.join(': ')}`),
  )
  expect(missing).toEqual([])
})
