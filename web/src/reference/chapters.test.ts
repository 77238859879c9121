import { expect, test } from 'vitest'
import { openApiDocument } from '../../../src/contract/openapi.ts'
import type { ApiDocument } from '../api/api-document.ts'
import { chaptersOf, searchChapters } from './chapters.ts'

const document = JSON.parse(
  JSON.stringify(openApiDocument({ base_url: 'http://service.test', version: '1' })),
) as ApiDocument
const chapters = chaptersOf(document)
const ids = (found: typeof chapters) => found.flatMap(chapter => chapter.entries.map(entry => entry.id))

test('every path and method of the document is in exactly one entry, by itself or as an alias', () => {
  const shown = chapters.flatMap(chapter =>
    chapter.entries.flatMap(({ method, path, aliases }) => [path, ...aliases].map(at => `${method} ${at}`)),
  )
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(shown.sort()).toEqual(all.sort())
  expect(chapters.filter(chapter => chapter.entries.length === 0)).toEqual([])
})

test('a search matches every word, in any position', () => {
  expect(ids(searchChapters(chapters, ''))).toEqual(ids(chapters))
  expect(ids(searchChapters(chapters, '  LOGS alpha '))).toContain('getAgentRunLogs')
  expect(ids(searchChapters(chapters, '/v1/alpha/organizations'))).toEqual(['getAgentRunLogs'])
  expect(ids(searchChapters(chapters, 'createagentrun'))).toContain('createAgentRun')
  expect(searchChapters(chapters, 'logs nothing-is-called-so')).toEqual([])
})
