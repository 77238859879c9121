import { expect, test } from 'vitest'
import { checkedResult } from './checked-result.ts'

test('of tools and content only what is read is kept', () => {
  const tool = {
    name: 'a',
    description: 'b',
    inputSchema: { type: 'object', properties: { x: true }, required: ['x'] },
  }
  const icons = Array(10_000).fill({})
  expect(checkedResult({ tools: [{ ...tool, icons, outputSchema: icons }], nextCursor: 'n' })).toEqual({
    tools: [tool],
    nextCursor: 'n',
  })
  const parts = [
    { type: 'text', text: 't' },
    { type: 'image', data: 'd', mimeType: 'image/png' },
    { type: 'resource_link', uri: 'u', name: 'n' },
    { type: 'resource', resource: { uri: 'u', text: 't' } },
    { type: 'resource', resource: { uri: 'u', blob: 'b' } },
  ]
  const content = parts.map(part => ({ ...part, icons, annotations: { audience: icons } }))
  expect(checkedResult({ content, isError: true })).toEqual({ content: parts, isError: true })
})

test.each([
  ['empty tools', { tools: Array(50_000).fill({}) }, { tools: [{}] }],
  [
    'names that are none',
    { tools: [{ name: 'a', inputSchema: { type: 'object', required: Array(50_000).fill(1) } }] },
    { tools: [{}] },
  ],
  ['empty content', { content: Array(50_000).fill({}) }, { content: [{}] }],
  ['texts without text', { content: Array(50_000).fill({ type: 'text' }) }, { content: [{}] }],
  ['unknown content', { content: Array(50_000).fill({ type: 'video' }) }, { content: [{}] }],
  [
    'a resource that is none',
    { content: [{ type: 'resource', resource: Array(50_000).fill({}) }] },
    { content: [{}] },
  ],
  ['icons of a server', { serverInfo: { icons: Array(50_000).fill({}) } }, {}],
])('the SDK describes one wrong part of %s', (_name, result, checked) => {
  expect(checkedResult(result)).toEqual(checked)
})

test('values of a tool, and small results, are passed on', () => {
  const structuredContent = { rows: Array(40_000).fill({}) }
  expect(checkedResult({ structuredContent })).toEqual({ structuredContent })
  const initialized = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'a', version: '1' },
  }
  expect(checkedResult(initialized)).toEqual(initialized)
})
