import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Scope, scopes } from '../../contract/endpoint.ts'
import { delegatedScopes, refusalToGiveRole } from './delegation.ts'
import { effectiveScopes, type Role, roleScopes } from './permissions.ts'

const roles: Role[] = ['ADMIN', 'MANAGER', 'MEMBER', 'READER']
const giver = (role: Role, granted: Scope[] | null, repository_ids: number[] | null = null) => ({
  granted,
  repository_ids,
  scopes: effectiveScopes(role, granted),
})
const list = fc.subarray([...scopes])

test('a new token never has rights that its creator or the role of its user lacks', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...roles),
      fc.option(list),
      fc.constantFrom(...roles),
      fc.option(list),
      (own, granted, role, wanted) => {
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
      },
    ),
  )
})

test('a refusal names the missing scope and whether the token or the role lacks it', () => {
  expect(delegatedScopes(giver('MEMBER', null), 'MEMBER', ['org:admin'])).toEqual({
    lacking: 'org:admin',
    whose: 'token',
  })
  expect(delegatedScopes(giver('ADMIN', ['runs:read']), 'ADMIN', ['runs:read', 'runs:write'])).toEqual({
    lacking: 'runs:write',
    whose: 'token',
  })
  expect(delegatedScopes(giver('ADMIN', null), 'READER', ['runs:write'])).toEqual({
    lacking: 'runs:write',
    whose: 'role',
  })
})

test('without requested scopes it has the role of an unlimited creator, and the list of a limited one', () => {
  expect(delegatedScopes(giver('MEMBER', null), 'MEMBER', null)).toEqual({ given: null })
  expect(delegatedScopes(giver('ADMIN', ['runs:read', 'org:admin']), 'READER', null)).toEqual({
    given: ['runs:read'],
  })
})

test('a role is granted only by a token with all of its scopes and every repository', () => {
  for (const role of roles) expect(refusalToGiveRole(giver('ADMIN', null), role)).toBeNull()
  expect(refusalToGiveRole(giver('ADMIN', ['org:admin']), 'READER')).toContain('runs:read')
  expect(refusalToGiveRole(giver('ADMIN', [...roleScopes.MEMBER, 'org:admin']), 'MEMBER')).toBeNull()
  expect(refusalToGiveRole(giver('ADMIN', [...roleScopes.MEMBER, 'org:admin']), 'MANAGER')).toContain(
    'repos:admin',
  )
  expect(refusalToGiveRole(giver('ADMIN', null, [1]), 'READER')).toContain('repository')
})
