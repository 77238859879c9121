import { afterEach, beforeEach, expect, test } from 'vitest'
import { outgoingFetch } from '../../src/egress/fetch.ts'
import { createResolver } from '../../src/egress/resolve.ts'
import { githubForge } from '../../src/forge/github/github.ts'
import type { RemoteForge } from '../../src/forge/port.ts'
import { type FakeGitHub, startFakeGitHub } from './fake-github.ts'

let github: FakeGitHub
let forge: RemoteForge
beforeEach(async () => {
  github = await startFakeGitHub()
  const fetch = outgoingFetch(
    { resolve: createResolver(), allow_private: true, upstream: null },
    { ms: 5_000, max_bytes: 8 * 1024 ** 2 },
  )
  forge = githubForge({
    origin: github.url,
    fetch,
    user_agent: 'agentrun/test',
    credentials: { token: github.token },
  })
})
afterEach(async () => {
  expect(github.mistakes).toEqual([])
  await github[Symbol.asyncDispose]()
})

const repo = { owner: 'acme', name: 'app' }
const at = (minute: number, second = 0) =>
  `2026-11-22T10:${String(minute).padStart(2, '0')}:${String(second).padStart(2, '0')}Z`
const EVENTS = 'GET /repos/{owner}/{repo}/issues/{issue_number}/events'
const pull = (number: number) => ({
  ...({
    number,
    state: 'open',
    draft: false,
    merged_sha: null,
    title: 'One',
    body: 'words',
    head: 'main',
    base: 'main',
  } as const),
  user: 'ada',
  created_at: at(0),
})
const open = (number: number, minute: number, second?: number, body = 'It breaks.') =>
  github.state.issues.push({
    number,
    user: 'ada',
    title: `Issue ${number}`,
    body,
    created_at: at(minute, second),
  })
const requested = async (number: number, { withdrawn = false, since = at(0) } = {}) => {
  const found = await forge.listMentions(repo, await forge.getSubject(repo, number), {
    name: 'agent',
    since: new Date(since),
    withdrawn,
  })
  return found.map(mention => ({ ...mention, once: `${mention.event}:${mention.id}` }))
}
const onces = async (number: number, options = {}) =>
  (await requested(number, options)).map(({ once }) => once)

test('changes are read in the order of their time, each poll continues after the last one, and a repository without changes costs one request', async () => {
  for (let i = 0; i < 130; i++) open(i + 1, Math.floor(i / 60), i % 60)
  github.state.comments.push({ id: 1, number: 3, user: 'ada', body: 'x', created_at: at(5) })
  const first = await forge.listChanged(repo, new Date(at(0)))
  expect([first.subjects.length, first.through]).toEqual([100, first.subjects.at(-1)?.changed_at])
  const second = await forge.listChanged(repo, first.subjects.at(-1)?.changed_at ?? new Date())
  expect([...first.subjects, ...second.subjects].map(({ number }) => number)).toEqual([
    ...[1, 2, ...Array.from({ length: 98 }, (_, i) => i + 4)],
    ...[101, ...Array.from({ length: 29 }, (_, i) => i + 102), 3],
  ])
  expect(second).toMatchObject({ through: null, subjects: { length: 31 } })
  expect(second.subjects.at(-1)).toMatchObject({
    number: 3,
    title: 'Issue 3',
    is_pull_request: false,
    author: 'ada',
    comments: 1,
  })
  github.requests.length = 0
  github.state.clock = at(40)
  expect(await forge.listChanged(repo, new Date(at(6)))).toEqual({
    subjects: [],
    through: null,
    clock: new Date(at(40)),
  })
  expect(github.requests).toHaveLength(1)
})

test('more than a page that changed in one second are read to a later one, so that a client makes progress', async () => {
  for (let i = 0; i < 210; i++) open(i + 1, 0)
  open(300, 1)
  const { subjects, through } = await forge.listChanged(repo, new Date(at(0)))
  expect([subjects.length, through, subjects.at(-1)?.number]).toEqual([211, null, 300])
})

test('an issue requests by its text, in a comment and by a label, each identified as in its webhook', async () => {
  open(7, 1, 0, '@agent please')
  github.state.comments.push(
    { id: 1, number: 7, user: 'ada', body: '@Agent and this', created_at: at(2) },
    { id: 2, number: 7, user: 'ada', body: 'nobody is meant', created_at: at(2) },
    { id: 3, number: 7, user: 'ci[bot]', body: '@agent go', created_at: at(2) },
    { id: 4, number: 7, user: 'ada', body: '@agent <!-- agentrun: x -->', created_at: at(2) },
  )
  github.state.labelings.push({ id: 9, number: 7, user: 'ben', label: 'AGENT', given: true, at: at(3) })
  expect(await requested(7)).toEqual([
    {
      by: 'opening',
      event: 'issues',
      id: 907,
      once: 'issues:907',
      author: 'ada',
      body: '@agent please',
      withdrawn: false,
      at: new Date(at(1)),
      url: `${github.url}/acme/app/issues/7`,
      author_association: expect.any(String),
    },
    expect.objectContaining({
      by: 'comment',
      once: 'issue_comment:1',
      author: 'ada',
      url: expect.stringContaining('#issuecomment-1'),
    }),
    expect.objectContaining({
      by: 'label',
      once: 'labeled:9',
      author: 'ben',
      body: '@agent please',
      at: new Date(at(3)),
    }),
  ])
  expect(await onces(7, { since: at(2, 30) })).toEqual(['labeled:9'])
})

test('a pull request requests in a review and in a review comment, which counts from the submission of its review', async () => {
  github.state.pulls.push({ ...pull(8), body: 'For you, @agent' })
  github.state.reviews.push({ id: 5, number: 8, user: 'ada', body: '@agent: not yet', submitted_at: at(4) })
  github.state.remarks.push({
    id: 6,
    number: 8,
    review_id: 5,
    user: 'ada',
    body: '@agent why?',
    created_at: '2026-11-19T10:00:00Z',
  })
  expect(await requested(8)).toMatchObject([
    { by: 'opening', once: 'pull_request:1008', at: new Date(at(0)) },
    { by: 'review', once: 'pull_request_review:5', body: '@agent: not yet', at: new Date(at(4)) },
    { by: 'comment', once: 'pull_request_review_comment:6', body: '@agent why?', at: new Date(at(4)) },
  ])
})

test('nothing that was edited after its publication, and nothing that is deleted', async () => {
  github.state.pulls.push({ ...pull(8), body: '@agent', edited_at: at(1) })
  github.state.comments.push({
    id: 1,
    number: 8,
    user: 'ada',
    body: '@agent',
    created_at: at(2),
    updated_at: at(3),
  })
  github.state.reviews.push({
    id: 5,
    number: 8,
    user: 'ada',
    body: '@agent',
    submitted_at: at(4),
    edited_at: at(5),
  })
  github.state.remarks.push(
    { id: 6, number: 8, review_id: 5, user: 'ada', body: '@agent', created_at: at(1), edited_at: at(6) },
    { id: 7, number: 8, review_id: 5, user: 'ada', body: '@agent', created_at: at(1), edited_at: at(2) },
  )
  expect(await onces(8)).toEqual(['pull_request_review_comment:7'])
  github.play('POST /graphql', { kind: 'after', work: () => github.state.comments.splice(0) })
  github.state.comments.splice(0, 1, { id: 2, number: 8, user: 'ada', body: '@agent', created_at: at(2) })
  expect(await onces(8)).toEqual(['pull_request_review_comment:7'])
})

test('a label that was removed requests only if its webhook arrived, and each addition of it is another request', async () => {
  open(7, 1)
  const label = (id: number, given: boolean, minute: number, user = 'ada', name = 'agent') =>
    github.state.labelings.push({ id, number: 7, user, label: name, given, at: at(minute) })
  label(1, true, 2)
  label(2, false, 3)
  expect(await requested(7)).toEqual([])
  expect(github.count(EVENTS)).toBe(0)
  expect(await requested(7, { withdrawn: true })).toMatchObject([{ once: 'labeled:1', withdrawn: true }])
  label(3, true, 4)
  label(4, true, 5, 'ada', 'bug')
  expect(await requested(7)).toMatchObject([{ once: 'labeled:3', withdrawn: false }])
  label(5, false, 6)
  label(6, true, 7, 'ci[bot]')
  expect((await requested(7, { withdrawn: true })).map(({ once, withdrawn }) => [once, withdrawn])).toEqual([
    ['labeled:1', true],
    ['labeled:3', true],
  ])
})

test('a label requests with the text at the time of its addition: none that was edited or renamed after it, or in the same second', async () => {
  const label = (id: number, number: number, minute: number) =>
    github.state.labelings.push({ id, number, user: 'ada', label: 'agent', given: true, at: at(minute) })
  for (const [number, edited_at] of [[1], [2, at(2)], [3, at(3)], [4, at(4)], [5]] as [number, string?][]) {
    github.state.issues.push({
      number,
      user: 'eve',
      title: 'x',
      body: 'x',
      created_at: at(1),
      ...(edited_at && { edited_at }),
    })
    label(number, number, 3)
  }
  github.state.renamings.push({ id: 15, number: 5, user: 'eve', at: at(4) })
  github.state.pulls.push({ ...pull(6), edited_at: at(4) })
  label(6, 6, 3)
  const found = []
  for (const number of [1, 2, 3, 4, 5, 6]) found.push(await onces(number))
  expect(found).toEqual([['labeled:1'], ['labeled:2'], [], [], [], []])
  expect(await onces(4, { withdrawn: true })).toEqual([])
  // Given again, it is for what is there now.
  for (const number of [4, 5, 6]) label(number + 20, number, 5)
  expect([await onces(4), await onces(5), await onces(6)]).toEqual([
    ['labeled:24'],
    ['labeled:25'],
    ['labeled:26'],
  ])
})

test('all pages of what was done are read, and a failure midway is one', async () => {
  open(7, 1)
  for (let id = 1; id <= 230; id++)
    github.state.labelings.push({ id, number: 7, user: 'ada', label: 'bug', given: id % 2 === 1, at: at(2) })
  github.state.labelings.push({ id: 231, number: 7, user: 'ada', label: 'agent', given: true, at: at(3) })
  expect(await onces(7)).toEqual(['labeled:231'])
  expect(github.count(EVENTS)).toBe(3)
  github.play(EVENTS, { kind: 'status', status: 502 })
  await expect(requested(7)).rejects.toMatchObject({ code: 'server_error', retryable: true })
})

test.each([
  ['application/json', '{}'],
  ['application/json', '[null]'],
  ['text/html', '<html>Sign in</html>'],
])('the response of another server is unreadable (%s %s)', async (type, text) => {
  open(7, 1)
  github.state.labelings.push({ id: 9, number: 7, user: 'ada', label: 'agent', given: true, at: at(3) })
  const subject = await forge.getSubject(repo, 7)
  for (const name of [
    'GET /repos/{owner}/{repo}/issues',
    'GET /repos/{owner}/{repo}/issues/{issue_number}',
    EVENTS,
  ])
    github.play(name, { kind: 'other', type, text })
  const attempts = [
    forge.listChanged(repo, new Date(at(0))),
    forge.getSubject(repo, 7),
    forge.listMentions(repo, subject, { name: 'agent', since: new Date(at(0)), withdrawn: true }),
  ]
  for (const requested of await Promise.allSettled(attempts))
    expect(requested).toMatchObject({ reason: { name: 'ForgeError', code: 'answer' } })
})

test('a response that is too large is unreadable', async () => {
  const fetch = outgoingFetch(
    { resolve: createResolver(), allow_private: true, upstream: null },
    { ms: 5_000, max_bytes: 1_000 },
  )
  const narrow = githubForge({
    origin: github.url,
    fetch,
    user_agent: 'agentrun/test',
    credentials: { token: github.token },
  })
  open(7, 1, 0, 'x'.repeat(2_000))
  await expect(narrow.getSubject(repo, 7)).rejects.toMatchObject({ code: 'answer', retryable: false })
})

test('errors of GraphQL, limited or unspecific, are mapped to the errors of the port', async () => {
  open(7, 1, 0, '@agent please')
  const play = (type?: string) =>
    github.play('POST /graphql', { kind: 'graphql', errors: [{ ...(type && { type }), message: 'no' }] })
  for (const type of ['RATE_LIMITED', 'FORBIDDEN', 'UNDEFINED_FIELD', undefined]) play(type)
  const codes = []
  for (let i = 0; i < 4; i++) codes.push(await requested(7).catch(error => error.code))
  expect(codes).toEqual(['rate_limited', 'forbidden', 'refused', 'server_error'])
})
