import { expect, test } from 'vitest'
import { mcpServerName } from '../../contract/organizations/mcp-servers.ts'
import { secretName } from '../../contract/organizations/secrets.ts'
import { mayBeVariable } from '../sandbox-environment.ts'
import { mcpCredentialName, mcpSignInName } from './mcp-credentials.ts'

test('credentials of MCP servers have names of secrets, each its own, and are never variables of a sandbox', () => {
  const servers = ['github', 'git-hub', 'g', 'a1-b2', 'x'.repeat(32)]
  for (const server of servers)
    expect([server, mcpServerName().safeParse(server).success]).toEqual([server, true])
  const names = [...servers.map(mcpCredentialName), ...servers.map(mcpSignInName)]
  expect(new Set(names).size).toBe(names.length)
  for (const name of names)
    expect([name, secretName().safeParse(name).success, mayBeVariable(name)]).toEqual([name, true, false])
})

test.each(['', '1st', 'Git', 'a_b', 'a--b', '-a', 'a-', 'x'.repeat(33)])(
  'no MCP server is named %j',
  server => {
    expect(mcpServerName().safeParse(server).success).toBe(false)
  },
)
