// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of a configuration, not of JavaScript
import { expect, test } from 'vitest'
import { readMcpFile } from './mcp-file.ts'

const file = (mcpServers: unknown) => readMcpFile(JSON.stringify({ mcpServers }))

test('a file of another agent is read, with the further fields that it has', () => {
  expect(
    file({
      'My Files': {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'server'],
        env: { ROOT: '/workspace' },
        disabled: false,
      },
      remote: {
        type: 'http',
        url: 'https://mcp.example.com/mcp',
        headers: { 'X-Team': '${TEAM}' },
        timeout: 5_500,
      },
    }),
  ).toEqual({
    servers: [
      {
        name: 'my-files',
        input: { command: 'npx', args: ['-y', 'server'], environment: { ROOT: '/workspace' } },
      },
      {
        name: 'remote',
        input: { url: 'https://mcp.example.com/mcp', headers: { 'X-Team': '${TEAM}' }, timeout_seconds: 6 },
      },
    ],
    notes: [],
  })
})

test.each([
  ['not JSON', '{'],
  ['no servers', '{}'],
  ['a list', '{"mcpServers":[]}'],
  ['null', 'null'],
])('a file that is %s names no server, and a note reports it', (_, text) => {
  expect(readMcpFile(text)).toEqual({ servers: [], notes: [expect.stringContaining('is not a JSON object')] })
})

test.each([
  ['neither program nor address', {}, 'command is required'],
  ['both', { command: 'a', url: 'https://a.example' }, 'command is required'],
  ['sse', { type: 'sse', url: 'https://a.example' }, 'sse is not supported'],
  ['another protocol', { url: 'file:///etc/passwd' }, 'url must be an http or https address'],
  ['a credential in its address', { url: 'https://a:b@a.example' }, 'url must not contain credentials'],
  ['a wrong variable', { command: 'a', env: { 'A=B': 'x' } }, 'environment'],
  ['text', 'a', 'it is not an object'],
])('a server with %s is left out with a note', (_, server, note) => {
  expect(file({ bad: server, good: { command: 'a' } })).toMatchObject({
    servers: [{ name: 'good' }],
    notes: [expect.stringContaining(note)],
  })
})

test('many servers, names that are none, and names that become the same are left out with a note', () => {
  expect(file({ 'A b': { command: 'a' }, 'a-B': { command: 'b' }, '123': { command: 'c' } })).toMatchObject({
    servers: [{ name: 'a-b' }],
    notes: expect.arrayContaining([
      expect.stringContaining('named twice'),
      expect.stringContaining('cannot be the name'),
    ]),
  })
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`s${i}`, { command: 'a' }]))
  expect(file(many).servers).toHaveLength(20)
})
