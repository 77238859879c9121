import { expect, test } from 'vitest'
import { forgeOf } from './forge-of.ts'

const github = { url: 'https://github.com' }
const gitea = { url: 'https://git.example.org:3000' }

test('the forge of a repository is the connection with the host of its address, however the address is written', () => {
  for (const address of ['https://github.com/a/b.git', 'ssh://git@github.com/a/b', 'git@github.com:a/b.git'])
    expect(forgeOf(address, [gitea, github])).toBe(github)
  expect(forgeOf('ssh://git@git.example.org:2222/a/b', [github, gitea])).toBe(gitea)
  for (const address of ['/srv/git/a.git', 'https://example.com/a/b', 'https://['])
    expect(forgeOf(address, [github, gitea])).toBeUndefined()
})
