import { expect, test } from 'vitest'
import { conditionalFetch, ResponseCache } from './response-cache.ts'

/** A server whose resources have a version, and the requests that it got. */
function server() {
  const versions = new Map<string, string>()
  const requests: { url: string; none_match: string | undefined; status: number }[] = []
  const fetch = async (url: string, init: { method?: string; headers?: Record<string, string> } = {}) => {
    const body = versions.get(url) ?? ''
    const etag = `"${body.length}-${body.slice(0, 20)}"`
    const none_match = init.headers?.['if-none-match']
    const status = none_match === etag ? 304 : 200
    requests.push({ url, none_match, status })
    const headers = { etag, date: `request ${requests.length}`, link: 'same' }
    return status === 304
      ? new Response(null, { status, headers: { etag, date: headers.date } })
      : new Response(body, { status, headers })
  }
  return { versions, requests, fetch }
}

test('an unchanged response is revalidated, and read with the current headers; a changed one is read again', async () => {
  const { versions, requests, fetch } = server()
  const get = conditionalFetch(fetch, new ResponseCache())
  versions.set('/a', 'one')
  const read = async () => {
    const response = await get('/a')
    return [
      response.status,
      await response.text(),
      response.headers.get('date'),
      response.headers.get('link'),
    ]
  }
  expect(await read()).toEqual([200, 'one', 'request 1', 'same'])
  expect(await read()).toEqual([200, 'one', 'request 2', 'same'])
  versions.set('/a', 'two')
  expect(await read()).toEqual([200, 'two', 'request 3', 'same'])
  expect(await read()).toEqual([200, 'two', 'request 4', 'same'])
  expect(requests.map(({ status }) => status)).toEqual([200, 304, 200, 304])
})

test('neither writes nor other credentials know a response', async () => {
  const { versions, requests, fetch } = server()
  const cache = new ResponseCache()
  const [one, other] = [conditionalFetch(fetch, cache), conditionalFetch(fetch, cache)]
  versions.set('/a', 'one')
  await one('/a')
  await one('/a', { method: 'POST' })
  await other('/a')
  expect(requests.map(({ none_match }) => none_match)).toEqual([undefined, undefined, undefined])
})

test('the cache is bounded in entries and in bytes, and keeps what was used last', async () => {
  const { versions, requests, fetch } = server()
  const cache = new ResponseCache()
  const get = conditionalFetch(fetch, cache)
  for (let i = 0; i < 2_100; i++) {
    await get('/kept')
    await get(`/${i}`)
  }
  expect(cache.size.entries).toBe(2_000)
  expect(requests.filter(({ url, status }) => url === '/kept' && status === 200)).toHaveLength(1)
  for (let i = 0; i < 50; i++) {
    versions.set(`/large/${i}`, `${i} ${'x'.repeat(1_000_000)}`)
    await get(`/large/${i}`)
    expect(cache.size.bytes).toBeLessThanOrEqual(32 * 1024 ** 2)
  }
  const before = cache.size
  versions.set('/huge', 'x'.repeat(2_000_000))
  await get('/huge')
  expect(cache.size).toEqual(before)
})
