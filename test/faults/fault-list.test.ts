import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clone } from '../source-tree.ts'

/** Where each numbered fault is proved: the file, and words of a test in it. */
const proved: Record<number, [file: string, words: string][]> = {
  1: [['faults/api-processes', 'row 1: creates that are repeated until they are answered']],
  2: [['faults/api-processes', 'rows 1 and 2: an API process that is killed before a commit']],
  3: [['faults/api-processes', 'row 3: a stream whose process is killed']],
  4: [
    ['runs/recovery/recovery', 'row 4: kill -9 of the worker in a model call'],
    ['chaos/chaos', 'processes are killed at random'],
  ],
  5: [['runs/recovery/recovery', 'rows 4 and 5: kill -9 of the worker in a command']],
  6: [
    ['chaos/chaos', 'one pull request each'],
    ['runs/recovery/crash', 'Ctrl-C during a push'],
  ],
  7: [
    ['runs/recovery/rolling-restart', 'every process is replaced while'],
    ['runs/recovery/crash', 'Ctrl-C during a push'],
  ],
  8: [['runs/recovery/recovery', 'row 8: a worker that was frozen']],
  9: [['runs/queue/fair-claims', 'twenty workers that claim from a thousand runs at once']],
  10: [
    ['faults/database', 'row 10: the database is away'],
    ['system/embedded-postgres', 'row 10: a server that is killed is started again'],
  ],
  11: [['faults/database-and-runs', 'row 11: one that is away for longer']],
  12: [['faults/database', 'rows 12 and 13']],
  13: [['faults/database', 'row 13: of a thousand requests at once']],
  14: [['faults/database', 'row 14: another transaction undoes ours']],
  15: [['faults/disk', 'row 15']],
  16: [['faults/disk', 'row 16']],
  17: [['faults/disk', 'row 17']],
  18: [
    ['faults/model', 'row 18: twelve runs with a Retry-After'],
    ['../src/agent/retry-policy', 'row 18: no wait that would outlast the run'],
  ],
  19: [
    ['faults/model', 'rows 19 to 23'],
    ['../src/agent/retry-policy', 'an unavailable provider is called five times'],
  ],
  20: [
    ['faults/long-waits', 'row 20'],
    ['model/failures', 'a closed port, and a server that hangs up, are unavailable'],
  ],
  21: [['model/timeouts', 'a stall in the middle of the answer']],
  22: [['model/broken-streams', 'malformed, to be tried again']],
  23: [['model/broken-streams', 'an endless stream without content']],
  24: [
    ['runs/agent/bad-models', 'a model that repeats one call without end'],
    ['runs/agent/bad-models', 'an unknown tool and bad arguments'],
  ],
  25: [['runs/agent/bad-models', 'row 25']],
  26: [['faults/git', 'row 26: a remote that is down at the clone']],
  27: [['faults/git', 'row 27: a remote that is down at the push']],
  28: [['faults/git', 'row 28']],
  29: [
    ['git/mirrors', 'a repository over the size limit is refused'],
    ['git/mirrors', 'a shallow repository is mirrored as it is'],
    ['runs/recovery/bounds', 'ends the run when its fetch times out'],
  ],
  30: [
    ['runs/recovery/out-of-memory', 'a command that uses up the memory of its run is killed'],
    ['sandbox/resources', 'B39: limits the memory of all processes together'],
  ],
  31: [
    ['sandbox/lifecycle', 'fails the self-test with a reason'],
    ['faults/disk', 'while others fill it nothing is started'],
  ],
  32: [['sandbox/limits', 'B47: kills a command at its time-out with all that it started']],
  33: [['faults/clock', 'row 33']],
  34: [['faults/clock', 'row 34']],
  36: [
    ['webhooks/receivers', 'row 36: a slow receiver'],
    ['webhooks/receivers', 'rests after failures in a row'],
    ['webhooks/post', 'responds with a gigabyte'],
  ],
  37: [['api/http/limits', 'Idempotency-Key']],
  38: [['faults/streams', 'row 38']],
  39: [
    ['faults/streams', 'row 39'],
    ['api/trace/slow-reader', 'then it is cut, without effect on others'],
  ],
  40: [['runs/queue/fair-claims', 'regardless of the number of earlier runs of another one']],
  41: [['faults/huge', 'row 41']],
  42: [
    ['runs/agent/bad-tools', '1 GB, binary, time-out'],
    ['sandbox/limits', 'B44: stops a flood of 1 GiB early'],
    ['faults/huge', 'row 42'],
  ],
  43: [['runs/agent/whole-output', 'binary']],
  44: [
    ['faults/huge', 'rows 44 to 46'],
    ['api/trace/run-logs-text', 'character for character'],
  ],
  45: [
    ['api/http/bodies', 'depth 64'],
    ['../src/core/text/truncate', 'row 45'],
  ],
  46: [['api/http/bodies', 'an unknown id, however large']],
  47: [
    ['faults/races', 'row 47'],
    ['api/runs/resume-run', 'twenty in parallel on a finished run'],
  ],
  48: [['faults/races', 'row 48']],
  49: [
    ['runs/recovery/newer-schema', 'code of the previous version starts'],
    ['runs/recovery/newer-schema', 'a newer version migrates its schema'],
  ],
  50: [['backup/under-load', 'row 50']],
  51: [['faults/huge', 'row 51']],
}

/** What has no test of its own kind yet, and why. */
const unproved: Record<number, string> = {
  35: 'no webhooks come in yet',
  52: 'a soak of hours is no test of a build',
  53: 'leftovers of a dead machine: part of the sandbox tests',
}

test('every numbered fault is proved by an existing test, or has a reason why not', () => {
  const numbers = [...Object.keys(proved), ...Object.keys(unproved)].map(Number).toSorted((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: 53 }, (_, i) => i + 1))
})

test('each of these tests is where the table expects it', () => {
  const missing = Object.entries(proved).flatMap(([row, tests]) =>
    tests.flatMap(([file, words]) => {
      const path = [`${file}.test.ts`, `${file}.long.test.ts`].map(name => join(clone, 'test', name)).find(existsSync)
      return path !== undefined && readFileSync(path, 'utf8').includes(words) ? [] : [`row ${row}: ${file}: ${words}`]
    }),
  )
  expect(missing).toEqual([])
})
