import { expect, test } from 'vitest'
import { mirrorBody, mirrorMark } from './comment-mirror.ts'
import { readGitHubEvent } from './github-event.ts'

const comment = { id: 31, author_name: 'Ada', body: 'Why?', path: null, line: null }

test('it names the author, the text and the location, and begins with its marker', () => {
  expect(mirrorBody(comment, 'https://x/1')).toBe(
    '<!-- agentrun: comment 31 -->\n**Ada** commented in [agentrun](https://x/1):\n\nWhy?',
  )
  expect(mirrorBody({ ...comment, path: 'a`b.txt', line: 3 }, 'u')).toContain(
    "commented about `a'b.txt:3` in",
  )
})

test('a name mentions no user and is not markup; a text that is too long is truncated at its end', () => {
  expect(mirrorBody({ ...comment, author_name: '**@eve** [x](y)' }, 'u')).toContain('**eve xy** commented')
  expect(mirrorBody({ ...comment, author_name: '@@' }, 'u')).toContain('**Somebody** commented')
  const long = mirrorBody({ ...comment, body: 'x'.repeat(65_536) }, 'u')
  expect([long.length < 65_536, long.startsWith(mirrorMark(31)), long.endsWith('x…')]).toEqual([
    true,
    true,
    true,
  ])
})

test('it is not a request to the agent, regardless of its mentions', () => {
  const repository = { name: 'app', owner: { login: 'acme' } }
  const posted = {
    body: mirrorBody({ ...comment, body: '@agent-bot do it' }, 'u'),
    user: { login: 'agent-bot', type: 'User' },
    id: 5,
  }
  const payload = { action: 'created', repository, issue: { number: 1, title: 'x' }, comment: posted }
  expect(readGitHubEvent('issue_comment', payload, 'agent-bot')).toEqual({
    ignored: 'it is a comment of ours',
  })
})
