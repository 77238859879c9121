import { expect, test } from 'vitest'
import { draftOf, type McpServer, missingIn, requestOf } from './server-draft.ts'

const server: McpServer = {
  ...{
    name: 'tickets',
    repo_id: null,
    command: null,
    args: [],
    environment: {},
    url: 'https://mcp.example.com/mcp',
    headers: { 'X-Team': 'a: b' },
  },
  ...{ credential_header: null, oauth: null, has_credential: true, tools: ['search'], enabled: true, timeout_seconds: 30 },
  ...{ created_at: '', updated_at: '', updated_by: 1 },
}

test('an unchanged draft sends what is set, and leaves the credential unchanged', () => {
  expect(requestOf(draftOf(server))).toEqual({
    ...{ url: server.url, headers: server.headers, credential_header: null, oauth: null },
    ...{ tools: ['search'], enabled: true, timeout_seconds: 30 },
  })
})

test('arguments are one in each line, with the blanks in them; variables may contain the separator', () => {
  const draft = { ...draftOf(null), name: 'a', command: ' npx ', args: '-y\n a b\n\n', environment: 'A=b=c\nEMPTY', tools: ' x \n\ny' }
  expect(requestOf(draft)).toMatchObject({
    ...{ command: 'npx', args: ['-y', ' a b'], environment: { A: 'b=c', EMPTY: '' }, tools: ['x', 'y'] },
  })
  expect(missingIn(draft, false)).toBeNull()
})

test('a credential that is no longer sent is removed, and one is required that is not set', () => {
  expect(requestOf({ ...draftOf(server), sent: 'none' })).toMatchObject({ credential: null })
  expect(missingIn({ ...draftOf(server), sent: 'bearer' }, false)).toBe('Enter the credential first')
  const oauth = { ...draftOf(server), sent: 'oauth' as const, client_id: 'c', issuer: 'https://a.example', credential: 's3cret-value' }
  expect(requestOf(oauth)).toMatchObject({
    credential: 's3cret-value',
    oauth: { client_id: 'c', issuer: 'https://a.example', scope: null },
  })
})
