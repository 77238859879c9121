import { expect, test } from 'vitest'
import { draftOf, type McpServer, missingIn, requestOf } from './server-draft.ts'

const server: McpServer = {
  name: 'tickets',
  repo_id: null,
  command: null,
  args: [],
  environment: {},
  url: 'https://mcp.example.com/mcp',
  headers: { 'X-Team': 'a: b' },
  credential_header: null,
  oauth: null,
  sign_in: null,
  sign_in_state: null,
  has_credential: true,
  tools: ['search'],
  enabled: true,
  timeout_seconds: 30,
  created_at: '',
  updated_at: '',
  updated_by: 1,
}

test('an unchanged draft sends what is set, and leaves the credential unchanged', () => {
  expect(requestOf(draftOf(server))).toEqual({
    url: server.url,
    headers: server.headers,
    credential_header: null,
    oauth: null,
    sign_in: null,
    tools: ['search'],
    enabled: true,
    timeout_seconds: 30,
  })
})

test('arguments are one in each line, with the blanks in them; variables may contain the separator', () => {
  const draft = {
    ...draftOf(null),
    name: 'a',
    command: ' npx ',
    args: '-y\n a b\n\n',
    environment: 'A=b=c\nEMPTY',
    tools: ' x \n\ny',
  }
  expect(requestOf(draft)).toMatchObject({
    command: 'npx',
    args: ['-y', ' a b'],
    environment: { A: 'b=c', EMPTY: '' },
    tools: ['x', 'y'],
  })
  expect(missingIn(draft, false)).toBeNull()
})

test('a credential that is no longer sent is removed, and one is required that is not set', () => {
  expect(requestOf({ ...draftOf(server), sent: 'none' })).toMatchObject({ credential: null })
  expect(missingIn({ ...draftOf(server), sent: 'bearer' }, false)).toBe('Enter the credential first')
  const oauth = {
    ...draftOf(server),
    sent: 'oauth' as const,
    client_id: 'c',
    issuer: 'https://a.example',
    credential: 's3cret-value',
  }
  expect(requestOf(oauth)).toMatchObject({
    credential: 's3cret-value',
    oauth: { client_id: 'c', issuer: 'https://a.example', scope: null },
  })
})

test('a server to which a person signs in needs no client, and one that is named needs its issuer', () => {
  const draft = { ...draftOf(server), sent: 'sign_in' as const, scope: 'read' }
  expect(requestOf(draft)).toMatchObject({
    oauth: null,
    sign_in: { client_id: null, issuer: null, scope: 'read' },
    credential: null,
  })
  expect(missingIn(draft, false)).toBeNull()
  const named = { ...draft, client_id: 'c' }
  expect(missingIn(named, false)).toBe('Enter the issuer of the client first')
  expect(requestOf({ ...named, issuer: 'https://a.example' })).not.toHaveProperty('credential')
  const set = { ...server, sign_in: { client_id: null, issuer: null, scope: 'read' } }
  expect(requestOf(draftOf(set))).toMatchObject({ sign_in: set.sign_in })
})
