import { expect, test } from 'vitest'
import { scopes } from '../../contract/endpoint.ts'
import { effectiveScopes, type Role, roleScopes } from './permissions.ts'

const roles: Role[] = ['READER', 'MEMBER', 'MANAGER', 'ADMIN']

test('each role allows what the one below it allows, and something more', () => {
  for (const [n, role] of roles.entries()) {
    const below = roles[n - 1]
    if (!below) continue
    expect(roleScopes[role]).toEqual(expect.arrayContaining([...roleScopes[below]]))
    expect(roleScopes[role].length).toBeGreaterThan(roleScopes[below].length)
  }
  expect([...roleScopes.ADMIN].sort()).toEqual([...scopes].sort())
})

test('a reader writes nothing, and only an administrator administers the organization', () => {
  expect(roleScopes.READER.filter(scope => !scope.endsWith(':read'))).toEqual([])
  expect(roles.filter(role => roleScopes[role].includes('org:admin'))).toEqual(['ADMIN'])
})

test('a token never exceeds its role or its scopes', () => {
  expect(effectiveScopes('MEMBER', ['runs:read', 'org:admin', 'unknown'])).toEqual(['runs:read'])
  expect(effectiveScopes('ADMIN', [])).toEqual([])
  expect(effectiveScopes('READER', null)).toEqual([...roleScopes.READER])
})
