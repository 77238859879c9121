import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clone } from '../source-tree.ts'

type Proof = [file: string, words: string]
const isolation = (words: string): Proof => ['test/sandbox/isolation', words]
const limits = (words: string): Proof => ['test/sandbox/limits', words]
const files = (words: string): Proof => ['test/sandbox/files', words]
const host_git = (words: string): Proof => ['test/runs/git/hostile-git', words]
const traffic = (words: string): Proof => ['test/egress/traffic', words]
const egress = (words: string): Proof => ['test/egress/attacks', words]

/** The tests of `every-guarantee.ts` in test/sandbox run on Docker too, and by `npm run test:engines` on Podman. Sections A to E of the attack list: where each number is tried, the file and words of a test in it. From 94 to 130: test/api/contract/attacks.long.test.ts. */
const tried: [numbers: number[], ...proofs: Proof[]][] = [
  [[1, 2, 3, 4], isolation('A01–A04')],
  [[80], ['test/runs/git/approve-push', 'a change of what CI does waits for a person']],
  [[5, 6, 7], isolation('A05–A07')],
  [[8, 9], isolation('A08, A09'), ['test/sandbox/hostile', 'A09: survives kill -9 -1']],
  [[10, 11], isolation('A10, A11')],
  [[12, 13, 14], isolation('A12–A14'), ['test/sandbox/workspaces', 'A13: follows no link out']],
  [[15], isolation('A15')],
  [[16, 17], isolation('A16, A17')],
  [[18], isolation('A18: answers dangerous'), isolation('A18: has no second table')],
  [[19, 20], isolation('A19, A20')],
  [[21, 22, 23, 24, 25, 26], isolation('A21–A26')],
  [[27, 30, 31], limits('A27, A31: holds the limits for processes and for the size of a file'), limits('/dev/shm/f')],
  [[28, 32, 33, 34], isolation('A28, A32–A34'), ['test/sandbox/resources', 'A34: a group is gone']],
  [[29], limits('A29')],
  [[35], ['test/sandbox/lifecycle', 'A35']],
  [[36], isolation('A36')],
  [
    [37],
    ['test/sandbox/hostile', 'B37: a fork bomb ends at its time-out'],
    ['test/sandbox/resources', 'B37: two sandboxes that fork at once'],
  ],
  [[38], ['test/sandbox/lifecycle', 'never runs agents as root']],
  [[39], ['test/sandbox/resources', 'B39'], ['test/runs/recovery/out-of-memory', 'uses up the memory of its run']],
  [[40], ['test/sandbox/resources', 'B40']],
  [
    [41, 42],
    ['test/sandbox/disk-bound', 'B41'],
    ['test/sandbox/disk-bound', 'B42'],
  ],
  [[43], ['test/sandbox/lifecycle', 'B43']],
  [[44, 45], limits('B44'), limits('B45')],
  [[46, 47], limits('B46'), limits('B47')],
  [[48], ['test/sandbox/workspaces', 'B48']],
  [[49, 50, 51, 52], files('C49–C52')],
  [[53, 54], files('C53'), files('C54')],
  [[55], isolation('C55')],
  [[57, 58, 59, 60, 64, 65, 68, 69, 70], host_git('D57–D60, D64, D65, D68–D70')],
  [[61, 62, 63], host_git('D61–D63')],
  [[66, 67], host_git('D66, D67')],
  [[71, 72], host_git('D71'), host_git('D72')],
  [
    [75],
    [
      'test/git/bundles',
      'a sound bundle is seen by its own run alone until it was pushed, and in the mirror under the name of run and turn then',
    ],
  ],
  [[76], host_git('D76'), ['test/git/bundles', 'a submodule whose address is an option']],
  [[77], ['src/git/refs/repository-url', 'F123 refused'], ['test/git/merge', '--upload-pack=x']],
  [[78], ['test/runs/git/private-repository', 'D78']],
  [[79], ['test/git/http-remotes', 'no branch but that of a run is ever pushed']],
  [[81, 82, 83, 84], egress('E81'), egress('E82'), egress('E83'), egress('E84')],
  [[85, 86, 87], egress('E85'), egress('E86'), egress('E87')],
  [[88], traffic('E88: a name is resolved once')],
  [[89, 92], egress('E89'), egress('E92')],
  [[90, 91, 93], traffic('E90'), traffic('E91'), ['test/egress/caps', 'E93']],
]

/** Attacks beyond the list, numbered after its last: what is tried, and where. */
const beyond: [number: number, what: string, ...proofs: Proof[]][] = [
  [131, 'a credential that nobody needs, carried out in plain HTTP', ['test/secrets/canary', 'in a request of plain HTTP']],
  [132, 'ten thousand connections, heads without an end, bytes that drip', ['test/egress/floods', 'E132']],
  [133, 'requests within requests, bytes behind CONNECT', ['test/egress/floods', 'E133']],
  [134, 'a value in what git does not show of a commit', ['test/secrets/agent-secrets', 'D134']],
  [135, 'a template poisoned by way of a layer on it', ['test/runs/git/same-repository', 'C135']],
  [136, 'two organizations with the same repository', ['test/runs/git/same-repository', 'D136']],
  [137, 'a value as the name of everything that has one', ['test/secrets/elsewhere', 'E137']],
  [138, 'named pipes instead of files that git reads', ['test/git/hostile-checkpoints', 'D138'], ['test/runs/git/hostile-git', 'D138']],
  [139, 'limits set for process 1', ['test/sandbox/hostile', 'A139']],
  [140, 'switches of the kernel that belong to the own namespaces', isolation('A140')],
  [141, 'metadata services of clouds, by addresses that embed others', traffic('E141')],
  [142, 'a disk filled outside of the count: closed folders, files without a name', ['test/sandbox/disk-bound', 'B142']],
  [143, 'limits of the kernel per machine or per user', ['test/sandbox/hostile', 'A143']],
  [
    144,
    'a value between colours, struck over, in UTF-16 or in base32',
    ['src/core/redaction/redact', 'coloured by grep'],
    ['src/core/redaction/redact', 'base32 behind'],
  ],
]

/** Attacks without a target, and why. */
const without: Record<number, string> = {
  56: 'the host extracts no archive: whatever is unpacked is unpacked inside',
  73: 'the host clones from no workspace: a bundle leaves it',
  74: 'the host has no work tree in a workspace; the second sandbox of a run, which has one, sees the files read-only and holds nothing of ours',
}

test('every attack of the sections is tried by an existing test, or has a reason why not', () => {
  const numbers = [...tried.flatMap(([those]) => those), ...Object.keys(without).map(Number)].toSorted((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: 93 }, (_, i) => i + 1))
})

test('each of these tests is where the table expects it', () => {
  const all = [...tried, ...beyond.map(([number, , ...proofs]): (typeof tried)[number] => [[number], ...proofs])]
  expect(beyond.map(([number]) => number)).toEqual(beyond.map((_, i) => 131 + i))
  const missing = all.flatMap(([numbers, ...proofs]) =>
    proofs.flatMap(([file, words]) => {
      const path = [`${file}.test.ts`, `${file}.long.test.ts`].map(name => join(clone, name)).find(existsSync)
      return path !== undefined && readFileSync(path, 'utf8').includes(words) ? [] : [`${numbers.join(', ')}: ${file}: ${words}`]
    }),
  )
  expect(missing).toEqual([])
})
