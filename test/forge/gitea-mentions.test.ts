import { afterEach, beforeEach, expect, test } from 'vitest'
import { outgoingFetch } from '../../src/egress/fetch.ts'
import { createResolver } from '../../src/egress/resolve.ts'
import { giteaForge } from '../../src/forge/gitea/gitea.ts'
import type { RemoteForge } from '../../src/forge/port.ts'
import { type FakeGitea, startFakeGitea } from './fake-gitea.ts'

let gitea: FakeGitea
let forge: RemoteForge
beforeEach(async () => {
  gitea = await startFakeGitea()
  const fetch = outgoingFetch(
    { resolve: createResolver(), allow_private: true, upstream: null },
    { ms: 5_000, max_bytes: 8 * 1024 ** 2 },
  )
  forge = giteaForge({ url: gitea.url, token: gitea.token, fetch, user_agent: 'agentrun/test' })
})
afterEach(async () => {
  expect(gitea.mistakes).toEqual([])
  await gitea[Symbol.asyncDispose]()
})

const repo = { owner: 'acme', name: 'app' }
const LIST = 'GET /repos/{owner}/{repo}/issues'
const at = (minute: number, second = 0) =>
  `2026-11-22T10:${String(minute).padStart(2, '0')}:${String(second).padStart(2, '0')}Z`
const open = (
  number: number,
  minute: number,
  more: { body?: string; edited_at?: string; second?: number } = {},
) => {
  const { second, ...fields } = more
  gitea.state.issues.push({
    number,
    user: 'ada',
    title: `Issue ${number}`,
    body: 'It breaks.',
    created_at: at(minute, second),
    ...fields,
  })
}
const requested = async (number: number, { withdrawn = false, since = at(0) } = {}) => {
  const found = await forge.listMentions(repo, await forge.getSubject(repo, number), {
    name: 'agent',
    since: new Date(since),
    withdrawn,
  })
  return found.map(mention => ({ ...mention, once: `${mention.event}:${mention.id}` }))
}
const pull = (number: number, body: string) =>
  gitea.state.pulls.push({
    number,
    state: 'open',
    draft: false,
    merged_sha: null,
    title: 'One',
    body,
    head: 'main',
    base: 'main',
    user: 'ada',
    created_at: at(0),
  })

test.each(['link', 'total', 'neither'] as const)(
  'what has changed comes by when it did, whatever order and pages it is listed in (counted by %s)',
  async counts_by => {
    Object.assign(gitea.set, { counts_by, most_per_page: 20 })
    for (let i = 0; i < 70; i++) open(i + 1, Math.floor(i / 60), { second: i % 60 })
    gitea.state.comments.push({ id: 1, number: 3, user: 'ada', body: 'x', created_at: at(5) })
    const { subjects, through } = await forge.listChanged(repo, new Date(at(0, 10)))
    expect([subjects.map(({ number }) => number), through]).toEqual([
      [...Array.from({ length: 60 }, (_, i) => i + 11), 3],
      null,
    ])
    expect(subjects.at(-1)).toMatchObject({
      number: 3,
      title: 'Issue 3',
      is_pull_request: false,
      author: 'ada',
      comments: 1,
    })
    gitea.requests.length = 0
    gitea.state.clock = at(40)
    expect(await forge.listChanged(repo, new Date(at(6)))).toEqual({
      subjects: [],
      through: null,
      clock: new Date(at(40)),
    })
    expect(gitea.requests).toHaveLength(1)
  },
)

test('more than are read at once are those that changed first', async () => {
  gitea.set.most_per_page = 1
  const now = Date.now()
  for (let i = 0; i < 60; i++) {
    const created_at = new Date(now - (60 - i) * 60_000).toISOString()
    gitea.state.issues.push({ number: i + 1, user: 'ada', title: 'x', body: 'x', created_at })
  }
  const { subjects, through } = await forge.listChanged(repo, new Date(now - 61 * 60_000))
  expect(through?.getTime()).toBeGreaterThanOrEqual(subjects.at(-1)?.changed_at.getTime() ?? 0)
  const numbers = subjects.map(({ number }) => number)
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 1))
  expect(numbers.length).toBeGreaterThan(20)
  expect(gitea.count(LIST)).toBeLessThan(100)
})

test('a client that continues from the end of each list reads all that changed within seconds', async () => {
  gitea.set.most_per_page = 1
  gitea.state.clock = at(59)
  for (let i = 0; i < 60; i++) open(i + 1, 30, { second: Math.floor(i / 20) })
  open(70, 50)
  const found = new Set<number>()
  let since: Date | null = new Date(at(0))
  for (let polls = 0; since !== null && polls < 40; polls++) {
    const { subjects, through } = await forge.listChanged(repo, since)
    for (const { number } of subjects) found.add(number)
    since = through
  }
  expect([since, found.size]).toEqual([null, 61])
}, 60_000)

test('an issue requests by its text, in a comment and by a label, each identified as in its webhook', async () => {
  open(7, 1, { body: '@agent please' })
  const comment = (id: number, user: string, body: string, updated_at = at(2)) =>
    gitea.state.comments.push({ id, number: 7, user, body, created_at: at(2), updated_at })
  comment(1, 'ada', '@Agent and this')
  comment(2, 'ada', 'nobody is meant')
  comment(3, 'gitea-actions', '@agent go')
  comment(4, 'ada', '@agent <!-- agentrun: x -->')
  comment(5, 'ada', '@agent, edited', at(3))
  gitea.state.labelings.push({ id: 9, number: 7, user: 'ben', label: 'AGENT', given: true, at: at(3) })
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
      url: `${gitea.url}/acme/app/issues/7`,
      author_association: '',
    },
    expect.objectContaining({
      by: 'comment',
      once: 'issue_comment:1',
      author: 'ada',
      body: '@Agent and this',
    }),
    expect.objectContaining({
      by: 'label',
      once: 'labeled:9',
      author: 'ben',
      body: '@agent please',
      at: new Date(at(3)),
    }),
  ])
  expect(await requested(7, { since: at(4) })).toEqual([])
})

test('a pull request requests in a review and in a review comment, which counts from the submission of its review', async () => {
  pull(8, 'For you, @agent')
  gitea.state.reviews.push({ id: 5, number: 8, user: 'ada', body: '@agent: not yet', submitted_at: at(4) })
  gitea.state.reviews.push({
    id: 6,
    number: 8,
    user: 'ada',
    body: '@agent, edited',
    submitted_at: at(4),
    edited_at: at(5),
  })
  const remark = (id: number, created_at: string, edited_at?: string) =>
    gitea.state.remarks.push({
      id,
      number: 8,
      review_id: 5,
      user: 'ada',
      body: '@agent why?',
      created_at,
      ...(edited_at && { edited_at }),
    })
  remark(6, '2026-11-19T10:00:00Z')
  remark(7, at(1), at(2))
  remark(8, at(1), at(6))
  expect(await requested(8)).toMatchObject([
    { by: 'opening', once: 'pull_request:1008', at: new Date(at(0)) },
    { by: 'review', once: 'pull_request_review:5', body: '@agent: not yet', at: new Date(at(4)) },
    { by: 'comment', once: 'pull_request_review_comment:6', at: new Date(at(4)) },
    { by: 'comment', once: 'pull_request_review_comment:7' },
  ])
})

test('the text of an issue requests as long as all its events are known', async () => {
  open(7, 1, { body: '@agent please' })
  gitea.state.labelings.push({ id: 9, number: 7, user: 'ada', label: 'bug', given: true, at: at(3) })
  expect(await requested(7)).toMatchObject([{ once: 'issues:907' }])
  open(8, 1, { body: '@agent please', edited_at: at(2) })
  expect(await requested(8)).toEqual([])
})

test('a label that was removed requests only if its webhook arrived, and each addition of it is another request', async () => {
  open(7, 1)
  const label = (id: number, given: boolean, minute: number, user = 'ada') =>
    gitea.state.labelings.push({ id, number: 7, user, label: 'agent', given, at: at(minute) })
  label(1, true, 2)
  label(2, false, 3)
  expect(await requested(7)).toEqual([])
  expect(await requested(7, { withdrawn: true })).toMatchObject([{ once: 'labeled:1', withdrawn: true }])
  label(3, true, 4)
  expect(await requested(7)).toMatchObject([{ once: 'labeled:3', withdrawn: false }])
  label(4, false, 5)
  label(5, true, 6, 'gitea-actions')
  expect((await requested(7, { withdrawn: true })).map(({ once, withdrawn }) => [once, withdrawn])).toEqual([
    ['labeled:1', true],
    ['labeled:3', true],
  ])
})

test('a label requests with the text at the time of its addition, which is unknown after later events, unless the person who added it wrote the text', async () => {
  const label = (id: number, number: number, minute: number, given = true) =>
    gitea.state.labelings.push({ id, number, user: 'Ben', label: 'agent', given, at: at(minute) })
  const comment = (number: number, minute: number) =>
    gitea.state.comments.push({ id: number, number, user: 'ada', body: 'x', created_at: at(minute) })
  for (const [number, edited_at] of [[1], [2, at(2)], [3, at(4)], [4, at(4)], [5]] as [number, string?][]) {
    open(number, 1, edited_at === undefined ? {} : { edited_at })
    label(number, number, 3)
  }
  // What follows an edit hides it.
  comment(4, 5)
  comment(5, 5)
  gitea.state.issues.push({ number: 6, user: 'ben', title: 'x', body: 'x', created_at: at(1) })
  label(6, 6, 3)
  comment(6, 5)
  const found = []
  for (const number of [1, 2, 3, 4, 5, 6]) found.push((await requested(number)).map(({ once }) => once))
  expect(found).toEqual([['labeled:1'], ['labeled:2'], [], [], [], ['labeled:6']])
  expect(await requested(4, { withdrawn: true })).toEqual([])
  label(24, 4, 6)
  expect(await requested(4)).toMatchObject([{ once: 'labeled:24' }])
})

test('an unreadable response and a failure midway are distinguished', async () => {
  open(7, 1)
  const TIMELINE = 'GET /repos/{owner}/{repo}/issues/{index}/timeline'
  gitea.play(
    TIMELINE,
    { kind: 'page', status: 200 },
    { kind: 'status', status: 502 },
    { kind: 'hang_up', when: 'before' },
  )
  const codes = []
  for (let i = 0; i < 3; i++) codes.push(await requested(7).catch(error => error.code))
  expect(codes).toEqual(['answer', 'server_error', 'unreachable'])
})
