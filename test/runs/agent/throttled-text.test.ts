import { expect, test } from 'vitest'
import { createBackgroundRedactor } from '../../../src/redaction/background-redactor.ts'
import { RedactionThreads } from '../../../src/redaction/thread-pool.ts'
import { ThrottledText } from '../../../src/worker/claim/throttled-text.ts'

const VALUE = 'kQ7wXz2mN9pLr4Ts'
const values = [{ name: 'A', value: VALUE }]
const part = { event: 'output' as const, call_id: 'a' }

/** `until` resolves with everything that was sent as soon as it contains a text. */
function sentBy() {
  let sent = ''
  let poll = () => {}
  const live = new ThrottledText((_, data) => {
    sent += (JSON.parse(data) as { text: string }).text
    poll()
  })
  const until = async (text: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    poll = () => sent.includes(text) && resolve()
    poll()
    await promise
    return sent
  }
  return { live, until }
}

/** A redactor that counts what is searched. */
function counting() {
  const redactor = createBackgroundRedactor(values)
  const count = { pushes: 0 }
  const stream = () => {
    const one = redactor.stream()
    const push: typeof one.push = (...args) => {
      count.pushes++
      return one.push(...args)
    }
    return { ...one, push }
  }
  return { count, redactor: { ...redactor, stream } }
}

test('output that arrives as single characters is redacted as one text', async () => {
  const { count, redactor: counted } = counting()
  const { live, until } = sentBy()
  for (const text of `${`-----BEGIN PRIVATE KEY-----\n${VALUE}`.repeat(200)}\n.\nthe end`)
    live.add({ ...part, text }, counted, true)
  await live.end('output')
  expect(await until('the end')).not.toContain(VALUE)
  expect(count.pushes).toBe(1)
})

test('output that ends without a viewer is not searched, and before the first viewer all of it is', async () => {
  const { count, redactor } = counting()
  const { live, until } = sentBy()
  live.add({ ...part, text: `${VALUE}\n`.repeat(3_000) }, redactor, false)
  await live.end('output')
  expect(count.pushes).toBe(0)
  live.add({ ...part, text: VALUE.slice(0, 8) }, redactor, false)
  live.add({ ...part, text: `${VALUE.slice(8)}\n.\nthe end` }, redactor, true)
  await live.end('output')
  expect(await until('the end')).not.toContain(VALUE.slice(8))
  expect(count.pushes).toBe(2)
})

test('the end of a flood is shown, without half of a secret value where output is left out', async () => {
  const { live, until } = sentBy()
  const redactor = createBackgroundRedactor(values)
  const flood = `${VALUE}\n`.repeat(40_000)
  for (let at = 0; at < flood.length; at += 10_000)
    live.add({ ...part, text: flood.slice(at, at + 10_000) }, redactor, true)
  live.add({ ...part, text: 'the end' }, redactor, true)
  await live.end('output')
  const shown = await until('the end')
  expect(shown.replaceAll('[redacted:A]', '').replaceAll(/[…\n]/g, '')).toBe('the end')
})

test('text that cannot be redacted is not shown, and later text is', async () => {
  await using threads = new RedactionThreads({ script: new URL('data:text/javascript,process.exit(1)') })
  const { live, until } = sentBy()
  const redactor = createBackgroundRedactor(values, undefined, threads)
  live.add({ ...part, text: `secret ${VALUE}\n`.repeat(5_000) }, redactor, true)
  const ended = live.end('output')
  live.add({ ...part, call_id: 'b', text: 'another one.' }, redactor, true)
  await ended
  expect(await until('another one.')).not.toContain('secret')
})
