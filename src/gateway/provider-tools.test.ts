import { expect, it } from 'vitest'
import type { ModelApi } from '../contract/model-settings.ts'
import { GatewayRefusal } from './gateway-refusal.ts'
import { safeBody } from './safe-body.ts'

const f = { type: 'function', name: 'f' }
const search = { type: 'web_search' }
const namespace = (...tools: object[]) => ({ type: 'namespace', name: 'n', tools })
const added = (...tools: object[]) => ({ type: 'additional_tools', role: 'developer', tools })
const fetching = { type: 'web_fetch_20250910', name: 'web_fetch' }

it.each<[ModelApi, object, object, string[]]>([
  [
    'openai-responses',
    { tools: [f, search], tool_choice: 'auto' },
    { tools: [f], tool_choice: 'auto' },
    ['web_search'],
  ],
  [
    'openai-responses',
    { tools: [search], tool_choice: 'auto', parallel_tool_calls: true },
    {},
    ['web_search'],
  ],
  ['openai-responses', { tools: [{ type: 'mcp', server_url: 'https://other.test' }] }, {}, ['mcp']],
  ['openai-responses', { tools: [namespace(f, search)] }, { tools: [namespace(f)] }, ['web_search']],
  ['openai-responses', { tools: [f, namespace(search)] }, { tools: [f] }, ['web_search']],
  ['openai-responses', { tools: [f, namespace(namespace(f))] }, { tools: [f] }, ['namespace']],
  ['openai-responses', { input: [added(f, search), added(search)] }, { input: [added(f)] }, ['web_search']],
  [
    'openai-responses',
    { tools: [search], input: [added(f)], tool_choice: 'required' },
    { tools: [], input: [added(f)], tool_choice: 'required' },
    ['web_search'],
  ],
  [
    'openai-chat',
    { tools: [f, { type: 'web_search' }, { type: 'browser' }] },
    { tools: [f] },
    ['web_search', 'browser'],
  ],
  ['anthropic-messages', { tools: [fetching], tool_choice: { type: 'auto' } }, {}, ['web_fetch_20250910']],
  [
    'anthropic-messages',
    { tools: [{ name: 'f' }, fetching], tool_choice: { type: 'any' } },
    { tools: [{ name: 'f' }], tool_choice: { type: 'any' } },
    ['web_fetch_20250910'],
  ],
  [
    'google-generate-content',
    { tools: [{ functionDeclarations: [], googleSearch: {}, urlContext: {} }] },
    { tools: [{ functionDeclarations: [] }] },
    ['googleSearch', 'urlContext'],
  ],
  ['google-generate-content', { tools: [{ googleSearch: {} }], toolConfig: {} }, {}, ['googleSearch']],
])(
  'a tool that runs at the provider is dropped from a request that lists it: %s %j',
  (api, body, safe, dropped) => {
    expect(safeBody(api, { ...body })).toEqual({ body: safe, dropped })
  },
)

it.each<[ModelApi, object]>([
  ['openai-responses', { tools: [f, search], tool_choice: search }],
  ['openai-responses', { tools: [f], tool_choice: { type: 'mcp', server_label: 's' } }],
  ['openai-responses', { tools: [search], tool_choice: 'required' }],
  [
    'openai-responses',
    { tools: [f, search], tool_choice: { type: 'allowed_tools', mode: 'required', tools: [search] } },
  ],
  ['openai-chat', { tools: [search], tool_choice: 'required' }],
  [
    'openai-chat',
    {
      tools: [f, search],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [search] } },
    },
  ],
  [
    'anthropic-messages',
    { tools: [{ name: 'f' }, fetching], tool_choice: { type: 'tool', name: 'web_fetch' } },
  ],
  ['anthropic-messages', { tools: [fetching], tool_choice: { type: 'any' } }],
])('a request that forces one is refused, with the reason: %s %j', (api, body) => {
  expect(() => safeBody(api, { ...body })).toThrow('tool_choice forces a tool that runs at the provider')
})

it.each<[ModelApi, object]>([
  ['openai-chat', { tools: ['web'] }],
  ['openai-chat', { tools: { type: 'web_search' } }],
  ['openai-responses', { input: [{ type: 'additional_tools', tools: { type: 'web_search' } }] }],
  ['openai-responses', { tools: [{ type: 'namespace', name: 'n' }] }],
])('tools that are not a list of objects are refused: %s %j', (api, body) => {
  expect(() => safeBody(api, { ...body })).toThrow(GatewayRefusal)
})

it.each<[ModelApi, object]>([
  ['openai-responses', { tools: [f], tool_choice: { type: 'function', name: 'f' } }],
  [
    'openai-responses',
    { tools: [namespace({ type: 'custom', name: 'exec' })], input: [added(f)], tool_choice: 'required' },
  ],
  [
    'openai-chat',
    { tools: [f], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [f] } } },
  ],
  [
    'anthropic-messages',
    {
      tools: [{ name: 'f' }, { type: 'bash_20250124', name: 'bash' }],
      tool_choice: { type: 'tool', name: 'f' },
    },
  ],
  [
    'google-generate-content',
    { tools: [{ functionDeclarations: [] }], toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
  ],
])('tools of the program stay as they are: %s %j', (api, body) => {
  expect(safeBody(api, { ...body })).toEqual({ body, dropped: [] })
})
