import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { createBackgroundRedactor, MAX_AT_ONCE } from '../../src/redaction/background-redactor.ts'
import { RedactionError } from '../../src/redaction/port.ts'
import { createRedactor } from '../../src/redaction/redact.ts'
import { RedactionThreads } from '../../src/redaction/thread-pool.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const VALUE = 'kQ7wXz2mN9pLr4Ts'
const values = [{ name: 'A', value: VALUE }]
const here = createRedactor(values)
const KEY = 'AKIAABCDEFGHIJKLMNOP'
const large = `${VALUE} ${KEY} é\n`.repeat(MAX_AT_ONCE / 10)

test('the result of a thread equals the synchronous one, and matches are reported', async () => {
  await using threads = new RedactionThreads()
  const met = new Set<string>()
  const redactor = createBackgroundRedactor(values, name => met.add(name), threads)
  expect(await redactor.text(large)).toBe(here.text(large))
  expect(await redactor.text(large, 'known')).toBe(here.text(large, 'known'))
  expect(met).toEqual(new Set(['A']))
  const bytes = Buffer.from(large)
  expect(Buffer.from(await redactor.bytes(bytes, 1_000))).toEqual(here.bytes(bytes, 1_000))
  expect(await redactor.value({ [large]: [large, 1, null] })).toEqual(
    here.value({ [large]: [large, 1, null] }),
  )
  expect(await redactor.json(JSON.stringify([large]))).toBe(here.json(JSON.stringify([large])))
  expect(await redactor.names(large)).toEqual(['A'])
  const harmless = { text: 'x'.repeat(MAX_AT_ONCE * 2) }
  expect(await redactor.value(harmless)).toBe(harmless)
  expect(redactor.small({ large })).toEqual({ left_out: 'too large' })
  expect(redactor.small({ text: VALUE })).toEqual({ text: '[redacted:A]' })
})

test('a stream of large and small pieces is redacted as a whole, and restarts after a gap', async () => {
  await using threads = new RedactionThreads()
  const stream = createBackgroundRedactor(values, undefined, threads).stream()
  const pieces = [
    large.slice(0, MAX_AT_ONCE + 5),
    large.slice(MAX_AT_ONCE + 5, MAX_AT_ONCE + 9),
    large.slice(MAX_AT_ONCE + 9),
  ]
  let shown = ''
  for (const piece of pieces) shown += await stream.push(piece)
  expect(shown + (await stream.end())).toBe(here.text(large))
  expect(await stream.push(`x ${VALUE.slice(0, 9)}`)).toBe('x ')
  // What was held is given up, and the rest of a value whose beginning is missing goes too.
  expect(await stream.push(`${VALUE.slice(6)} y `, true)).toBe(' y ')
})

/** A thread that dies, hangs or returns nonsense, instead of redacting. */
function brokenThread(source: string) {
  const folder = temporaryFolder()
  const path = join(folder.path, 'thread.mjs')
  writeFileSync(
    path,
    `import { parentPort } from 'node:worker_threads'\nparentPort.on('message', request => { ${source} })\n`,
  )
  return { script: pathToFileURL(path), [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

test.each([
  ['dies', 'process.exit(1)'],
  ['throws', 'throw new Error(request.args[0])'],
  ['hangs', 'for (;;);'],
  ['uses up its memory', 'const all = []; for (;;) all.push(new Array(100000).fill(request.args[0]))'],
  ['fails', "parentPort.postMessage({ ok: false, why: 'RangeError' })"],
])('a thread that %s shows nothing of the text, and the caller gets an error', async (_, source) => {
  using broken = brokenThread(source)
  await using threads = new RedactionThreads({ script: broken.script, timeout_ms: 1_000, max_threads: 1 })
  const redactor = createBackgroundRedactor(values, undefined, threads)
  const failed = redactor.text(large)
  await expect(failed).rejects.toThrow(RedactionError)
  await expect(failed).rejects.not.toThrow(VALUE)
  const stream = redactor.stream()
  expect(await stream.push(`x ${VALUE.slice(0, 9)}`)).toBe('x ')
  await expect(stream.push(large)).rejects.toThrow(RedactionError)
  // Neither what was held before it nor a half of what follows on it.
  expect(await stream.push(`${VALUE.slice(6)} y `)).toBe(' y ')
  expect(await redactor.text(VALUE)).toBe('[redacted:A]')
})

test('a thread that dies once costs nothing: another does what it had', async () => {
  const thread = new URL('../../src/redaction/thread.ts', import.meta.url)
  using folder = temporaryFolder()
  const mark = JSON.stringify(join(folder.path, 'mark'))
  const path = join(folder.path, 'once.mjs')
  writeFileSync(
    path,
    `import fs from 'node:fs'\nif (fs.existsSync(${mark})) await import(${JSON.stringify(thread.href)})\nelse { fs.writeFileSync(${mark}, ''); process.exit(1) }\n`,
  )
  await using threads = new RedactionThreads({ script: pathToFileURL(path), max_threads: 1 })
  const redactor = createBackgroundRedactor(values, undefined, threads)
  const all = await Promise.all([redactor.text(large), redactor.text(`${large}x`)])
  expect(all).toEqual([here.text(large), here.text(`${large}x`)])
})

test('one owner has one thread at a time, so that another is served beside it', async () => {
  using broken = brokenThread(
    "if (request.args[0].startsWith('slow')) setTimeout(() => {}, 1e9); else parentPort.postMessage({ ok: true, met: [], same: false, result: 'done' })",
  )
  await using threads = new RedactionThreads({ script: broken.script, max_threads: 2 })
  const greedy = createBackgroundRedactor(values, undefined, threads)
  for (let n = 0; n < 8; n++) greedy.text(`slow${large}`).catch(() => {})
  expect(await createBackgroundRedactor(values, undefined, threads).text(large)).toBe('done')
})

test('the loop of the process turns while a large hostile text is redacted', async () => {
  await using threads = new RedactionThreads()
  const redactor = createBackgroundRedactor(values, undefined, threads)
  let turns = 0
  let over = false
  const turn = () => {
    turns++
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  await redactor.text(`[redacted:A]\n${KEY}\n${VALUE}\n`.repeat(20_000))
  over = true
  expect(turns).toBeGreaterThan(20)
})
