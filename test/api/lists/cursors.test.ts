import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { decodeCursor, encodeCursor } from '../../../src/contract/page.ts'
import { expectProblem } from '../expect-problem.ts'
import { type ForgeApp, startForgeApp } from '../repositories/proposals.ts'
import { type GrowingList, growLists } from './grow-lists.ts'

const names = Object.entries<Endpoint>(endpoints).flatMap(([name, { query }]) =>
  'cursor' in query.shape ? [name as keyof typeof endpoints] : [],
)

const stack = new AsyncDisposableStack()
let app: ForgeApp
let lists: Awaited<ReturnType<typeof growLists>>
beforeAll(async () => {
  app = stack.use(await startForgeApp({ AGENTRUN_ALLOW_PRIVATE_GIT: '1' }))
  lists = await growLists(app, stack)
  for (const { grow } of Object.values(lists)) for (let i = 0; i < 5; i++) await grow?.()
})
afterAll(() => stack.disposeAsync())

type Links = { next?: string; prev?: string }
const linksOf = (headers: Headers): Links =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, url]),
  )

function listOf(name: keyof typeof endpoints): GrowingList {
  const list = lists[name]
  if (!list) throw new Error(`${name} has no list here`)
  return list
}

async function page(list: GrowingList, path: string) {
  const { status, body, headers } = await app.call('GET', path)
  expect({ path, status, body }).toMatchObject({ path, status: 200 })
  const of_list = body.steps ?? body
  const items: Record<string, unknown>[] = of_list.items ?? of_list.logs
  return { keys: items.map(item => item[list.key]), numbers: of_list, links: linksOf(headers) }
}

/** The path of a link, which is an address of the service. */
const pathOf = (link: string) => {
  expect(link.startsWith(app.base_url)).toBe(true)
  return link.slice(app.base_url.length)
}

const first = ({ path, size }: GrowingList, more = '') =>
  `${path}${path.includes('?') ? '&' : '?'}limit=${size}${more}`

async function walk(list: GrowingList, from: string, rel: keyof Links, between: () => Promise<unknown>) {
  const pages: unknown[][] = []
  let last = from
  for (let next: string | undefined = from; next !== undefined; ) {
    const { keys, links } = await page(list, next)
    pages.push(keys)
    last = next
    next = links[rel] === undefined ? undefined : pathOf(links[rel])
    // It stops growing, or a list that grows at its end would have none.
    if (pages.length < 4) await between()
  }
  return { pages, last }
}

/** What a page of it lists never changes, so that `skip` misses and repeats nothing. */
const unchanging = ['listAgentRunFiles']

test('every list that changes has a cursor, and is walked here', () => {
  expect(Object.keys(lists).sort()).toEqual([...names].sort())
  const paged = Object.entries<Endpoint>(endpoints).filter(
    ([name, { query }]) => 'skip' in query.shape && !unchanging.includes(name),
  )
  expect(paged.map(([name]) => name).sort()).toEqual([...names].sort())
})

describe.each(names)('%s', name => {
  test('walked by Link, it returns each item once, while items are added, and back again', async () => {
    const list = listOf(name)
    const before = (await page(list, first(list).replace(/limit=\d+/, 'limit=100'))).keys
    const { pages, last } = await walk(list, first(list), 'next', async () => list.grow?.())
    const seen = pages.flat()
    expect(pages.length).toBeGreaterThan(2)
    expect(pages[0]).toHaveLength(list.size)
    expect(seen).toEqual([...new Set(seen)])
    expect(seen.filter(key => before.includes(key))).toEqual(before)
    // Items that were added before the first page are none of its pages: the walk back ends where the walk
    // began.
    const back = await walk(list, last, 'prev', async () => {})
    expect(back.pages.toReversed().flat().slice(-seen.length)).toEqual(seen.slice(-back.pages.flat().length))
  })

  test('a page by cursor has the numbers of the same page by skip', async () => {
    const list = listOf(name)
    const by_skip = await page(list, first(list, `&skip=${list.size}`))
    const { links } = await page(list, first(list))
    const by_cursor = await page(list, pathOf(links.next ?? ''))
    expect(by_cursor).toEqual(by_skip)
    expect(by_cursor.links.prev).toBeDefined()
    expect((await page(list, pathOf(by_cursor.links.prev ?? ''))).keys).toEqual(
      (await page(list, first(list))).keys,
    )
  })

  test('400 for a cursor that is forged, of another list, or beside skip', async () => {
    const list = listOf(name)
    const { links } = await page(list, first(list))
    const cursor = new URL(links.next ?? '').searchParams.get('cursor') ?? ''
    const forged = encodeCursor({ backward: false, key: 1, seen: 1, list: 'x' })
    for (const wrong of ['1', `${cursor}A`, cursor.slice(1), forged])
      expectProblem(await app.call('GET', first(list, `&cursor=${wrong}`)), 400, 'query.cursor')
    for (const beside of ['skip=1', 'page=2'])
      expectProblem(await app.call('GET', first(list, `&cursor=${cursor}&${beside}`)), 400, 'query.cursor')
  })
})

test('a cursor is bound to its filter, not to the size of the page', async () => {
  const list = listOf('listAgentRuns')
  const { links } = await page(list, first(list))
  const next = pathOf(links.next ?? '')
  expect((await app.call('GET', next.replace('limit=2', 'limit=3'))).body.items).toHaveLength(3)
  expectProblem(await app.call('GET', next.replace('tag=one', 'tag=two')), 400, 'query.cursor')
})

test('the last page has no next, the first no prev, an empty list neither', async () => {
  const path = `/v1/organizations/${app.org_id}/agent/runs`
  expect((await app.call('GET', `${path}?q=no-such-text`)).headers.get('link')).toBeNull()
  const { total } = (await app.call('GET', path)).body
  expect(linksOf((await app.call('GET', `${path}?limit=1`)).headers)).toEqual({ next: expect.any(String) })
  expect(linksOf((await app.call('GET', `${path}?limit=1&skip=${total - 1}`)).headers)).toEqual({
    prev: expect.any(String),
  })
})

test('logs: newest first and filtered, by cursor as without', async () => {
  const { path, key } = listOf('getAgentRunLogs')
  for (const filter of [
    'reverse=true',
    'message_type=ACTION',
    'reverse=true&message_type=ACTION',
    'q=shell',
  ]) {
    const list = { path: `${path}?${filter}`, key, size: 2 }
    const all = (await page(list, `${list.path}&limit=100`)).keys
    const { pages, last } = await walk(list, first(list), 'next', async () => {})
    expect({ filter, seen: pages.flat() }).toEqual({ filter, seen: all })
    const back = await walk(list, last, 'prev', async () => {})
    expect({ filter, seen: back.pages.toReversed().flat() }).toEqual({ filter, seen: all })
  }
})

test('logs: a forged cursor far beyond the trace is the end of it', async () => {
  const { path, key } = listOf('getAgentRunLogs')
  for (const reverse of [false, true]) {
    const list = { path: `${path}?message_type=ACTION&reverse=${reverse}`, key, size: 2 }
    const { links } = await page(list, first(list))
    const known = decodeCursor(new URL(links.next ?? '').searchParams.get('cursor') ?? '')
    if (known === null) throw new Error('the first page has no next one')
    const cursor = encodeCursor({ ...known, key: 999_999_999_999_999 })
    const all = (await page(list, `${list.path}&limit=100`)).keys
    expect((await page(list, first(list, `&cursor=${cursor}`))).keys).toEqual(reverse ? all.slice(0, 2) : [])
  }
})
