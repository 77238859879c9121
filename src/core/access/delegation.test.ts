import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Scope, scopes } from '../../contract/endpoint.ts'
import { delegatedScopes, refusalToGiveRole } from './delegation.ts'
import { effectiveScopes, type Role, roleScopes } from './permissions.ts'

const roles: Role[] = ['ADMIN', 'MANAGER', 'MEMBER', 'READER']
const giver = (role: Role, granted: Scope[] | null, repository_ids: number[] | null = null) => ({
  ...{ granted, repository_ids, scopes: effectiveScopes(role, granted) },
})
const list = fc.subarray([...scopes])

test('whatever is wanted, a new token may do nothing that its giver or the role of its user may not', () => {
  fc.assert(
    fc.property(fc.constantFrom(...roles), fc.option(list), fc.constantFrom(...roles), fc.option(list), (own, granted, role, wanted) => {
      // Only an ADMIN grants an unlimited token to another user.
      fc.pre(granted !== null || own === role || own === 'ADMIN')
      const from = giver(own, granted)
      const result = delegatedScopes(from, role, wanted)
      if (!('given' in result)) return
      for (const scope of effectiveScopes(role, result.given)) {
        expect(from.scopes).toContain(scope)
        expect(roleScopes[role]).toContain(scope)
      }
      for (const scope of wanted ?? []) expect(result.given).toContain(scope)
    }),
  )
})

test('a refusal names the missing scope and who lacks it', () => {
  expect(delegatedScopes(giver('MEMBER', null), 'MEMBER', ['org:admin'])).toEqual({ lacking: 'org:admin', whose: 'token' })
  expect(delegatedScopes(giver('ADMIN', ['runs:read']), 'ADMIN', ['runs:read', 'runs:write'])).toEqual({
    ...{ lacking: 'runs:write', whose: 'token' },
  })
  expect(delegatedScopes(giver('ADMIN', null), 'READER', ['runs:write'])).toEqual({ lacking: 'runs:write', whose: 'role' })
})

test('with nothing wanted it is the role for who has no bounds, and one list for who has', () => {
  expect(delegatedScopes(giver('MEMBER', null), 'MEMBER', null)).toEqual({ given: null })
  expect(delegatedScopes(giver('ADMIN', ['runs:read', 'org:admin']), 'READER', null)).toEqual({ given: ['runs:read'] })
})

test('a role is given only by a token that has all of it and every repository', () => {
  for (const role of roles) expect(refusalToGiveRole(giver('ADMIN', null), role)).toBeNull()
  expect(refusalToGiveRole(giver('ADMIN', ['org:admin']), 'READER')).toContain('runs:read')
  expect(refusalToGiveRole(giver('ADMIN', [...roleScopes.MEMBER, 'org:admin']), 'MEMBER')).toBeNull()
  expect(refusalToGiveRole(giver('ADMIN', [...roleScopes.MEMBER, 'org:admin']), 'MANAGER')).toContain('repos:admin')
  expect(refusalToGiveRole(giver('ADMIN', null, [1]), 'READER')).toContain('repository')
})
