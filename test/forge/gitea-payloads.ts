import { whole } from './gitea-description.ts'

// biome-ignore lint/suspicious/noExplicitAny: payloads are changed freely
type Json = any

/** The payloads of Gitea and Forgejo, with their own members: there is no published description of them. */
const person = (login: string) => whole('User', { id: login === 'gitea-actions' ? -2 : 99, login })
const repository = () =>
  whole('Repository', { id: 1, name: 'app', full_name: 'acme/app', owner: person('acme') })
const about = (number: number, pull: boolean, more: Json = {}) => ({
  id: 900 + number,
  number,
  title: 'It is broken',
  body: 'It breaks.',
  labels: [],
  user: person('ada'),
  state: 'open',
  html_url: `https://git.example.org/acme/app/${pull ? 'pulls' : 'issues'}/${number}`,
  pull_request: pull ? { merged: false } : null,
  ...more,
})

export const commentBy = (
  login: string,
  body: string,
  { id = 1, number = 7, pull = false, action = 'created' } = {},
): Json => ({
  action,
  issue: about(number, pull),
  repository: repository(),
  sender: person(login),
  is_pull: pull,
  comment: whole('Comment', {
    id,
    body,
    user: person(login),
    html_url: `https://git.example.org/acme/app/issues/${number}#issuecomment-${id}`,
  }),
})

export const reviewBy = (login: string, content: string, number = 7): Json => ({
  action: 'reviewed',
  number,
  pull_request: about(number, true),
  requested_reviewer: null,
  repository: repository(),
  sender: person(login),
  commit_id: '',
  review: { type: 'pull_request_review_comment', content },
})

/** Newer versions report which labels were added. */
export const labeledBy = (login: string, label: string, added: boolean, number = 7): Json => ({
  action: 'label_updated',
  number,
  repository: repository(),
  sender: person(login),
  commit_id: '',
  issue: about(number, false, { labels: [whole('Label', { id: 3, name: label })] }),
  ...(added && { changes: { added_labels: [whole('Label', { id: 3, name: label })], removed_labels: null } }),
})

export const issueBy = (login: string, body: string, number = 7, action = 'opened'): Json => ({
  action,
  number,
  repository: repository(),
  sender: person(login),
  commit_id: '',
  issue: about(number, false, { body }),
})

export const pullRequest = (action: string, number: number): Json => ({
  action,
  number,
  pull_request: about(number, true),
  requested_reviewer: null,
  repository: repository(),
  sender: person('ada'),
  commit_id: '',
  review: null,
})

export const statusOf = (sha: string): Json => ({
  commit: null,
  context: 'ci',
  created_at: '2026-11-22T10:00:00Z',
  description: '',
  id: 1,
  repository: repository(),
  sender: person('ada'),
  sha,
  state: 'failure',
  target_url: '',
  updated_at: '2026-11-22T10:00:00Z',
})

export const pushTo = (branch: string): Json => ({
  ref: `refs/heads/${branch}`,
  before: '',
  after: '',
  commits: [],
  repository: repository(),
})
