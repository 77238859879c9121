import { expect, test } from 'vitest'
import { cloneCommand } from './clone-command.ts'

const repository = { organization_id: 1, repo_id: 2 }

test('a command for a branch, and none for a name that a shell would read otherwise', () => {
  expect(cloneCommand('http://127.0.0.1:4600', repository, 'agent/run-12-x')).toBe(
    'git clone --branch agent/run-12-x http://127.0.0.1:4600/git/1/2.git',
  )
  for (const branch of ['$(id)', 'a b', "a'b", '--upload-pack=x', 'a;id', 'a\nb', ''])
    expect(cloneCommand('http://x', repository, branch)).toBeNull()
})
