import examples from '@octokit/webhooks-examples' with { type: 'json' }

// biome-ignore lint/suspicious/noExplicitAny: recorded payloads of many shapes
type Json = any
const recorded = examples as unknown as { name: string; examples: Json[] }[]

/** The published example of that event from GitHub, for acme/app, at the current time. */
function example(event: string, action: string): Json {
  const payload = structuredClone(
    recorded.find(({ name }) => name === event)?.examples.find(one => one.action === action),
  )
  Object.assign(payload.repository, { name: 'app', full_name: 'acme/app' })
  payload.repository.owner.login = 'acme'
  return payload
}
const user = (base: Json, login: string) => ({
  ...base,
  login,
  type: login.endsWith('[bot]') ? 'Bot' : 'User',
})
const now = () => new Date().toISOString()

type Target = { number: number; id: number; at?: string }

export function commentBy(
  login: string,
  body: string,
  { number, id, at = now(), pull = false }: Target & { pull?: boolean },
): Json {
  const payload = example('issue_comment', 'created')
  Object.assign(payload.issue, { number, title: 'It is broken', ...(pull && { pull_request: { url: 'x' } }) })
  const comment = {
    id,
    body,
    created_at: at,
    updated_at: at,
    author_association: 'MEMBER',
    html_url: `https://github.com/acme/app/issues/${number}#c`,
  }
  Object.assign(payload.comment, comment, { user: user(payload.comment.user, login) })
  return payload
}

export function remarkBy(login: string, body: string, { number, id, at = now() }: Target): Json {
  const payload = example('pull_request_review_comment', 'created')
  payload.pull_request.number = number
  Object.assign(payload.comment, {
    id,
    body,
    created_at: at,
    updated_at: at,
    user: user(payload.comment.user, login),
  })
  return payload
}

export function reviewBy(login: string, body: string, { number, id, at = now() }: Target): Json {
  const payload = example('pull_request_review', 'submitted')
  payload.pull_request.number = number
  Object.assign(payload.review, { id, body, submitted_at: at, user: user(payload.review.user, login) })
  return payload
}

/** `id`: that of an issue, or of a pull request as such. */
export function openedBy(
  login: string,
  body: string,
  { number, id, at = now(), pull = false }: Target & { pull?: boolean },
): Json {
  const payload = example(pull ? 'pull_request' : 'issues', 'opened')
  Object.assign(pull ? payload.pull_request : payload.issue, {
    number,
    id,
    body,
    title: 'It is broken',
    created_at: at,
    updated_at: at,
  })
  return { ...payload, sender: user(payload.sender, login) }
}

/** Nothing in it identifies the addition of the label. */
export function labeledBy(
  login: string,
  label: string,
  { number, pull = false }: { number: number; pull?: boolean },
): Json {
  const payload = example(pull ? 'pull_request' : 'issues', 'labeled')
  payload.label.name = label
  const subject = pull ? payload.pull_request : payload.issue
  Object.assign(subject, { number, updated_at: now() })
  return { ...payload, sender: user(payload.sender, login) }
}

export function pullRequest(action: string, number: number): Json {
  const payload = example('pull_request', 'closed')
  payload.pull_request.number = number
  return { ...payload, action }
}
