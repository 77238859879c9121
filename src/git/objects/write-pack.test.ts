import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seeded } from '../../../test/chaos/random.ts'
import { writePack } from './write-pack.ts'
import { type WrittenObject, writtenObject } from './written-object.ts'

/** Git, in an empty repository. */
function git() {
  const folder = mkdtempSync(join(tmpdir(), 'pack-'))
  const run = (args: string[], input?: Buffer) =>
    execFileSync('git', ['-C', folder, ...args], {
      input,
      maxBuffer: 64 * 1024 ** 2,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  run(['init', '-q', '--bare', '.'])
  return { run, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

/** Returns a later version of a text: some lines are changed, added, removed or moved. */
function editOf(bytes: Buffer, random: ReturnType<typeof seeded>): Buffer {
  const lines = bytes.toString('latin1').split('\n')
  for (let n = Math.floor(random.between(0, 6)); n >= 0; n--) {
    const at = Math.floor(random.between(0, lines.length))
    const moved = lines.splice(at, Math.floor(random.between(0, 4)))
    if (random.between(0, 1) < 0.3) lines.splice(Math.floor(random.between(0, lines.length)), 0, ...moved)
    else if (random.between(0, 1) < 0.7) lines.splice(at, 0, `a new line ${random.between(0, 1)}`)
  }
  return Buffer.from(lines.join('\n'), 'latin1')
}

test('git reads every version of a file from packs that build on each other', async () => {
  const random = seeded(1)
  using repository = git()
  for (let file = 0; file < 40; file++) {
    const size = Math.floor(random.between(0, 1) ** 6 * 20_000)
    const first = Array.from({ length: size }, (_, i) => `line ${i} of ${Math.floor(random.between(0, 99))}`)
    const versions: WrittenObject[] = [writtenObject('blob', Buffer.from(first.join('\n')))]
    for (let n = 0; n < 5; n++) {
      const base = versions.at(-1)
      if (base) versions.push(writtenObject('blob', editOf(base.bytes, random), base))
    }
    const distinct = [...new Map(versions.map(version => [version.sha, version])).values()]
    const half = Math.ceil(distinct.length / 2)
    for (const part of [distinct.slice(0, half), distinct.slice(half)])
      if (part.length > 0)
        repository.run(['index-pack', '--stdin', '--fix-thin', '--strict'], await writePack(part, 'thin'))
    for (const { sha, bytes } of distinct)
      expect(repository.run(['cat-file', 'blob', sha]).equals(bytes)).toBe(true)
  }
})

test('versions that have each other as base are readable', async () => {
  using repository = git()
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i} of the file`)
  const one = writtenObject('blob', Buffer.from(lines.join('\n')))
  const two = writtenObject('blob', Buffer.from([...lines, 'more'].join('\n')), one)
  const back = writtenObject('blob', one.bytes, two)
  repository.run(['index-pack', '--stdin', '--fix-thin', '--strict'], await writePack([two, back], 'thin'))
  for (const { sha, bytes } of [one, two])
    expect(repository.run(['cat-file', 'blob', sha]).equals(bytes)).toBe(true)
})

test('a complete pack needs no object that is not in it', async () => {
  using repository = git()
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i} of the file`)
  const one = writtenObject('blob', Buffer.from(lines.join('\n')))
  const two = writtenObject('blob', Buffer.from([...lines, 'two'].join('\n')), one)
  const three = writtenObject('blob', Buffer.from([...lines, 'three'].join('\n')), two)
  repository.run(['index-pack', '--stdin'], await writePack([two, three], 'complete'))
  for (const { sha, bytes } of [two, three])
    expect(repository.run(['cat-file', 'blob', sha]).equals(bytes)).toBe(true)
})

test('a few changed lines of a large file take few bytes', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i} ${(i * 7919) % 10_007}`)
  const before = writtenObject('blob', Buffer.from(lines.join('\n')))
  const after = lines.map((line, i) => (i % 2_000 === 7 ? 'changed' : line)).join('\n')
  const pack = await writePack([writtenObject('blob', Buffer.from(after), before)], 'thin')
  expect(pack.length).toBeLessThan(500)
})

test('bytes of any kind are copied beyond the longest copy of one instruction', async () => {
  using repository = git()
  const bytes = Buffer.alloc(17 * 1024 ** 2, 'no line ends here ')
  const before = writtenObject('blob', bytes)
  const after = writtenObject('blob', Buffer.concat([Buffer.from([0, 255]), bytes, Buffer.from('x')]), before)
  repository.run(['index-pack', '--stdin', '--fix-thin'], await writePack([before, after], 'thin'))
  expect(repository.run(['cat-file', '-s', after.sha]).toString()).toBe(`${after.bytes.length}\n`)
  expect(repository.run(['fsck', '--full', '--no-dangling']).toString()).toBe('')
})
