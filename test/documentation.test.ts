import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { type Endpoint, pathsOf } from '../src/contract/endpoint.ts'
import { endpoints } from '../src/contract/endpoints.ts'
import { documentationPages as pages, readPage } from './documentation.ts'
import { clone } from './source-tree.ts'

/** The text of a page without its code, which holds no links and no headings. */
const prose = (page: string) => readPage(page).replace(/^```[\s\S]*?^```/gm, '')

/** The anchors of a page, as GitHub generates them from its headings. */
function anchors(page: string): Set<string> {
  const counts = new Map<string, number>()
  const found = new Set<string>()
  for (const [, heading = ''] of prose(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = text.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    found.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return found
}

test('every link of a page leads to a file of the repository and to a heading in it', () => {
  const broken: string[] = []
  let links = 0
  for (const page of pages)
    for (const [link, path = '', anchor = ''] of prose(page).matchAll(
      /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g,
    )) {
      links += 1
      const target = path === '' ? page : posix.join(dirname(page), path)
      if (!existsSync(join(clone, target))) broken.push(`${page}: ${link}`)
      else if (anchor !== '' && !anchors(target).has(anchor)) broken.push(`${page}: ${link}`)
    }
  expect(broken).toEqual([])
  expect(links).toBeGreaterThan(50)
})

test('every page of docs can be reached from its index', () => {
  const reached = new Set(['docs/README.md'])
  for (const page of reached)
    for (const [, path = ''] of prose(page).matchAll(/\]\((?!https?:)([^)#\s]+\.md)(?:#[^)]*)?\)/g)) {
      const target = posix.join(dirname(page), path)
      if (pages.includes(target)) reached.add(target)
    }
  expect(pages.filter(page => page.startsWith('docs/') && !reached.has(page))).toEqual([])
})

test('every path of the source that a page names exists', () => {
  const missing: string[] = []
  for (const page of ['AGENTS.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md'])
    for (const [, path = ''] of prose(page).matchAll(
      /`((?:src|test|web|scripts|deploy|bench|docs|runtime)\/[\w./-]+)`/g,
    ))
      if (!existsSync(join(clone, path))) missing.push(`${page}: ${path}`)
  expect(missing).toEqual([])
})

test('every request that a page names is an operation of the contract', () => {
  const withoutNames = (path: string) => path.replace(/\{\w+\}/g, '{}')
  const known = Object.values(endpoints as Record<string, Endpoint>).flatMap(endpoint =>
    pathsOf(endpoint).map(path => `${endpoint.method} ${withoutNames(path)}`),
  )
  const requests = pages.flatMap(page =>
    [...prose(page).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (?:…|(?=\/v1))(\/[^`\s?]*)/g)].map(
      ([, method = '', path = '']) => ({
        page,
        method,
        path,
      }),
    ),
  )
  const isKnown = (method: string, path: string) =>
    known.some(operation => operation.startsWith(`${method} `) && operation.endsWith(withoutNames(path)))
  expect(requests.filter(({ method, path }) => !isKnown(method, path))).toEqual([])
  expect(requests.length).toBeGreaterThan(50)
})

test('every curl of the documentation calls an operation of the contract with a body that its schema accepts', () => {
  const table = Object.values(endpoints as Record<string, Endpoint>)
  const operationOf = (method: string, path: string) =>
    table.find(
      endpoint =>
        endpoint.method === method &&
        pathsOf(endpoint).some(one => new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)),
    )
  const calls = pages.flatMap(page =>
    [...readPage(page).matchAll(/^```\w*\n([\s\S]*?)^```/gm)]
      .flatMap(([, block = '']) => block.split(/^(?=curl )/m).filter(part => part.startsWith('curl ')))
      .map(call => ({
        page,
        method: / -X (\w+)/.exec(call)?.[1] ?? 'GET',
        path: /:4600(\/[^\s"?]*)/.exec(call)?.[1] ?? '',
        body: / -d '([^']+)'/.exec(call)?.[1],
      })),
  )
  expect(calls.length).toBeGreaterThan(10)
  for (const { page, method, path, body } of calls) {
    const operation = operationOf(method, path)
    expect({ page, method, path, known: operation !== undefined }).toMatchObject({ known: true })
    if (body !== undefined)
      expect({
        page,
        path,
        problems: operation?.body?.safeParse(JSON.parse(body)).error?.issues ?? [],
      }).toMatchObject({ problems: [] })
  }
})
