import { expect, test } from 'vitest'
import { mcpRequestExcess } from './mcp-request.ts'

const call = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

test('the arguments of a call may be large', () => {
  expect(
    mcpRequestExcess(
      call({
        name: 'create_agent_run',
        arguments: { list: Array(40_000).fill({}), text: 'a'.repeat(1_000_000) },
      }),
    ),
  ).toBeNull()
})

test.each([
  [
    'icons',
    {
      method: 'initialize',
      params: { clientInfo: { name: 'a', version: '1', icons: Array(120_000).fill({}) } },
    },
  ],
  ['_meta beside arguments', call({ name: 'a', arguments: {}, _meta: { icons: Array(1_000).fill({}) } })],
  ['nested lists', { params: { a: Array(30).fill(Array(30).fill(1)) } }],
  [
    'many keys',
    {
      params: {
        capabilities: {
          experimental: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 1])),
        },
      },
    },
  ],
  ['a list as the message', Array(1_000).fill({})],
  ['arguments at another depth', { params: { clientInfo: { arguments: Array(1_000).fill({}) } } }],
])('%s of a message are counted', (_name, message) => {
  expect(mcpRequestExcess(message)).toBe('has more than 500 values apart from the arguments of a call')
})

test.each([
  ['a method', { method: 'm'.repeat(70_000) }],
  ['a key', { params: { ['k'.repeat(70_000)]: 1 } }],
  ['an id', { id: 'i'.repeat(70_000) }],
])('%s that a response would repeat is bounded', (_name, message) => {
  expect(mcpRequestExcess(message)).toBe('has more than 65536 characters apart from the arguments of a call')
})
