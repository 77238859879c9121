import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clone, sourceFiles } from '../source-tree.ts'

/** Tests that prove the outcome of a fault without naming it: a file, and words of a test in it. */
const unnamed: Record<number, [file: string, words: string][]> = {
  6: [
    ['test/chaos/chaos', 'one pull request each'],
    ['test/runs/recovery/crash', 'Ctrl-C during a push'],
  ],
  7: [
    ['test/runs/recovery/rolling-restart', 'every process is replaced while'],
    ['test/runs/recovery/crash', 'Ctrl-C during a push'],
  ],
  9: [['test/runs/queue/fair-claims', 'twenty workers that claim from a thousand runs at once']],
  21: [['test/model/timeouts', 'a stall in the middle of the response']],
  22: [['test/model/broken-streams', 'malformed, to be tried again']],
  23: [['test/model/broken-streams', 'an endless stream without content']],
  24: [
    ['test/runs/agent/bad-models', 'a model that repeats one call without end'],
    ['test/runs/agent/bad-models', 'an unknown tool and bad arguments'],
  ],
  29: [
    ['test/git/mirrors', 'a repository over the size limit is refused'],
    ['test/git/mirrors', 'a shallow repository is mirrored as it is'],
    ['test/runs/recovery/bounds', 'ends the run when its fetch times out'],
  ],
  30: [
    ['test/runs/recovery/out-of-memory', 'a command that uses up the memory of its run is killed'],
    ['test/sandbox/resources', 'B39: limits the memory of all processes together'],
  ],
  31: [
    ['test/sandbox/lifecycle', 'fails the self-test with a reason'],
    ['test/faults/disk', 'while others fill it nothing is started'],
  ],
  32: [['test/sandbox/limits', 'B47: kills a command at its time-out with all that it started']],
  35: [['test/api/forges/hooks-github', 'F117 the same delivery']],
  37: [['test/api/http/limits', 'Idempotency-Key']],
  40: [['test/runs/queue/fair-claims', 'regardless of the number of earlier runs of another one']],
  43: [['test/runs/agent/whole-output', 'binary']],
  46: [['test/api/http/bodies', 'an unknown id, however large']],
  49: [
    ['test/runs/recovery/newer-schema', 'code of the previous version starts'],
    ['test/runs/recovery/newer-schema', 'a newer version migrates its schema'],
  ],
  52: [['test/sandbox/resources', 'A34: a group is gone']],
}

const page = readFileSync(join(clone, 'docs/operations/faults.md'), 'utf8')
const listed = [...page.matchAll(/^\| (\d+) \| /gm)].map(([, number]) => Number(number))
const tests = ['src', 'test', 'web/src'].flatMap(folder => sourceFiles(folder, ['.test.ts']))

/** The faults that names of tests begin with: "fault 13: …", "faults 4 and 5: …", "faults 19 to 23: …". */
function namedIn(text: string): number[] {
  return [...text.matchAll(/['"`]faults? (\d+)(?: (and|to) (\d+))?: /g)].flatMap(
    ([, first, word, last = first]) =>
      word === 'to'
        ? Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at)
        : [Number(first), Number(last)],
  )
}

test('every fault of the page has a test, and every fault that a test names is on the page', () => {
  expect(listed.length).toBeGreaterThan(50)
  expect(new Set(listed).size).toBe(listed.length)
  const named = new Set(tests.flatMap(({ text }) => namedIn(text)))
  expect(listed.filter(number => !named.has(number) && !(number in unnamed))).toEqual([])
  expect([...named, ...Object.keys(unnamed).map(Number)].filter(number => !listed.includes(number))).toEqual(
    [],
  )
})

test('the tests that do not name their fault are where the table expects them', () => {
  const missing = Object.entries(unnamed).flatMap(([number, proofs]) =>
    proofs
      .filter(
        ([file, words]) =>
          !tests.some(
            ({ path, text }) => path.replace(/(\.long)?\.test\.ts$/, '') === file && text.includes(words),
          ),
      )
      .map(proof => `${number}: ${proof.join(': ')}`),
  )
  expect(missing).toEqual([])
})
