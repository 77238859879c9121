import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { htmlText, MAX_TEXT_CHARS } from './html-text.ts'

const { signal } = new AbortController()
const textOf = async (organization_id: number, html: string, url = 'https://example.com/') => {
  const end = await htmlText(organization_id, { html, url }, signal)
  return end.ok ? end.value : end
}
const convert = (html: string) => textOf(1, html)

it('shows a table by its rows and cells, and pads none to the widest', async () => {
  const rows = '<tr><td>a</td> <td><b>b</b></td></tr>'.repeat(1_000)
  const html = `<table><tr><th>${'w'.repeat(20_000)}</th><th>B</th></tr>${rows}</table>`
  const converted = await convert(html)
  expect(converted).toEqual({ text: `${'w'.repeat(20_000)} | B${'\na | b'.repeat(1_000)}`, cut: false })
})

it('cuts a text that is much longer than its page', async () => {
  const html = '<a href="p">a</a>'.repeat(1_000)
  const converted = await textOf(1, html, `https://example.com/${'b'.repeat(10_000)}/`)
  expect(converted).toMatchObject({ text: expect.any(String), cut: true })
  expect('text' in converted && converted.text).toHaveLength(MAX_TEXT_CHARS)
})

it('converts two pages at a time, one of each organization; one that is no longer wanted is not started', async () => {
  let [started, open, most] = [0, 0, 0]
  const onWorker = (worker: Worker) => {
    started++
    most = Math.max(most, ++open)
    worker.once('exit', () => open--)
  }
  process.on('worker', onWorker)
  const abort = new AbortController()
  const converting = [1, 2, 3, 1].map((organization_id, n) => textOf(organization_id, `${n}`))
  const unwanted = htmlText(2, { html: '5', url: 'https://example.com/' }, abort.signal)
  abort.abort(new Error('not wanted'))
  await expect(unwanted).rejects.toThrow('not wanted')
  expect(await Promise.all(converting)).toMatchObject(['0', '1', '2', '3'].map(text => ({ text })))
  process.off('worker', onWorker)
  expect({ started, open, most }).toEqual({ started: 4, open: 0, most: 2 })
})
