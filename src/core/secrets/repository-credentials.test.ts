import { expect, test } from 'vitest'
import { isForGitAlone, repositoryCredentials } from './repository-credentials.ts'

const secret = (name: string, value: string, repository_id: number | null = 7) => ({
  name,
  value,
  repository_id,
  for_agent: false,
})

test('a repository authenticates with its own token, and with its own user name if it has one', () => {
  expect(repositoryCredentials([secret('GIT_TOKEN', 'abc\n'), secret('OTHER', 'x')])).toEqual({
    username: 'x-access-token',
    password: 'abc',
  })
  expect(repositoryCredentials([secret('GIT_TOKEN', 'abc'), secret('GIT_USERNAME', 'ada')])).toEqual({
    username: 'ada',
    password: 'abc',
  })
})

test('a token of the organization is never sent, and neither is a user name without a token', () => {
  expect(repositoryCredentials([secret('GIT_TOKEN', 'abc', null)])).toBeNull()
  expect(repositoryCredentials([secret('GIT_USERNAME', 'ada')])).toBeNull()
  expect(isForGitAlone(null, 'GIT_TOKEN')).toBe(false)
  expect(isForGitAlone(7, 'GIT_TOKEN')).toBe(true)
})
