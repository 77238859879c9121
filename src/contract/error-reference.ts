import { type ProblemCode, problems } from './error-codes.ts'

/**
 * Where the service serves this reference. The `type` of a problem is this page of the service, with the code
 * as its fragment.
 */
export const ERROR_REFERENCE_PATH = '/docs/errors'

export const problemType = (base_url: string, code: ProblemCode) =>
  `${base_url.replace(/(?<!\/)\/+$/, '')}${ERROR_REFERENCE_PATH}#${code}`

type Retry = 'never' | 'after_fix' | 'later'
type Explanation = { cause: string; fix: string; retry: Retry }

/** Whether the same request can succeed later. */
const retryAdvice: Record<Retry, string> = {
  never: 'No. Change the request first.',
  after_fix: 'Only after the cause is removed.',
  later: 'Yes. Wait as long as `Retry-After` says, or use exponential backoff when it is absent.',
}

/**
 * What each code means to a client, and what to do. Backquotes mark code; the page and
 * docs/reference/errors.md are generated from this.
 */
const errorReference = {
  invalid_request: {
    cause:
      'The path, the query string, a header or the body does not have the documented form, or a value is out of its range. `errors` names every such field. Tokens of wire profile `codegen` get status 422 instead.',
    fix: 'Correct the fields in `errors`. The API reference lists the type and the range of each.',
    retry: 'never',
  },
  no_logs: {
    cause: 'The run or sandbox to analyze has no log entries yet, or the given range contains none.',
    fix: 'Wait until the run has written entries, or choose another range.',
    retry: 'after_fix',
  },
  unauthorized: {
    cause:
      'The bearer token is missing, unknown, revoked or expired, or the signature of a delivery is wrong.',
    fix: 'Send `Authorization: Bearer <token>` with a valid token. Create one in the web interface or with `POST …/tokens`.',
    retry: 'never',
  },
  quota_exceeded: {
    cause:
      'The organization has used its monthly quota of cost or runs. Months begin at 00:00 UTC on the first day.',
    fix: 'Wait for the next month, or request a higher quota from the operator. `GET …/usage` shows what was used.',
    retry: 'after_fix',
  },
  forbidden: {
    cause:
      'The token is valid but does not permit this request: its user is not a member of the organization or lacks the role, the token lacks the scope, or it is restricted to other repositories. The host name may also be one that the service does not serve.',
    fix: 'Use a token with the scope that the API reference names for the operation, or request access from an ADMIN. For a host name, set `AGENTRUN_ALLOWED_HOSTS`.',
    retry: 'after_fix',
  },
  not_found: {
    cause:
      'The path does not exist, or the resource does not exist in this organization. It may have been deleted.',
    fix: 'Check the path and the IDs. A resource of another organization is reported as not found.',
    retry: 'never',
  },
  method_not_allowed: {
    cause: 'The path exists but does not support this HTTP method.',
    fix: 'Use one of the methods in the `Allow` header.',
    retry: 'never',
  },
  request_timeout: {
    cause: 'The headers or the body did not arrive in time.',
    fix: 'Check the connection. Send a create or resume with an `Idempotency-Key`, so that a repetition has no second effect.',
    retry: 'later',
  },
  conflict: {
    cause:
      'The request contradicts the current state of a resource: it was changed at the same time, is still being created, or something that it depends on was removed.',
    fix: 'Read `detail`, get the resource again and decide on its current state.',
    retry: 'after_fix',
  },
  invalid_transition: {
    cause:
      'The run is in a status that does not allow this operation, for example a delete of a run that has not ended.',
    fix: 'Get the run and check its `status`. `detail` names the operation that has to come first.',
    retry: 'after_fix',
  },
  payload_too_large: {
    cause: 'The body is larger than 24 MiB, or larger than this operation accepts.',
    fix: 'Send less in one request.',
    retry: 'never',
  },
  uri_too_long: {
    cause: 'The path, or the path together with the query string, is too long.',
    fix: 'Shorten the path or use fewer query parameters.',
    retry: 'never',
  },
  unsupported_media_type: {
    cause: 'The body is not JSON, or it is compressed.',
    fix: 'Send JSON with `Content-Type: application/json` and without `Content-Encoding`. Send images as data URIs in `images`.',
    retry: 'never',
  },
  expectation_failed: {
    cause: 'The `Expect` header has a value other than `100-continue`.',
    fix: 'Remove the header.',
    retry: 'never',
  },
  idempotency_mismatch: {
    cause: 'The `Idempotency-Key` was used within the last 24 hours for a request with another body.',
    fix: 'Use a new key for a new request, and the same key only to repeat the same request.',
    retry: 'never',
  },
  rate_limited: {
    cause:
      'The token, its user or the client address has sent too many requests in the current window, or too many requests wait on one connection.',
    fix: 'Wait as long as `Retry-After` says. The `RateLimit` headers of every response show what is left. Follow the events of a run instead of polling it.',
    retry: 'later',
  },
  header_too_large: {
    cause: 'The request line and the headers are larger than 16 KiB, or there are too many headers.',
    fix: 'Remove headers that the service does not need, such as cookies of other applications.',
    retry: 'never',
  },
  internal: {
    cause:
      'The service failed unexpectedly. The response contains no details; the log of the service has them under `request_id`.',
    fix: 'Give `request_id` to the operator. Check what the request changed before you repeat a write without `Idempotency-Key`.',
    retry: 'later',
  },
  not_available: {
    cause: 'The operation belongs to the Codegen API, but this version of the service does not provide it.',
    fix: 'Read `detail` for the alternative.',
    retry: 'never',
  },
  unavailable: {
    cause:
      'The service cannot process the request now: the database does not respond or its disk is full, the process is shutting down, a connected forge or model is unavailable, or the name server did not respond for the host of a new forge connection.',
    fix: 'Retry. If it persists, ask the operator to check `GET /readyz` and the log of the service.',
    retry: 'later',
  },
} as const satisfies Record<ProblemCode, Explanation>

const introduction =
  'Every error is `application/problem+json` (RFC 9457); tokens of wire profile `codegen`, and unknown tokens below `/v1/alpha` and `/v1/beta`, get the same body as `application/json`. Its `type` is the address of one of these sections, and its `code` is the heading. Programs should compare `code`.'

/** Returns this reference as Markdown, the text of docs/reference/errors.md. */
export function errorReferenceMarkdown(): string {
  const sections = (Object.keys(errorReference) as ProblemCode[]).map(code => {
    const { cause, fix, retry } = errorReference[code]
    const { status, title } = problems[code]
    return `## ${code}\n\n${status} ${title}\n\n- **Cause:** ${cause}\n- **Fix:** ${fix}\n- **Retry the same request:** ${retryAdvice[retry]}\n`
  })
  return [`# Errors\n\n${introduction}\n`, ...sections].join('\n')
}

/** Returns this reference as the body of an HTML page, with an anchor for each code. */
export function errorReferenceHtml(): string {
  const sections = (Object.keys(errorReference) as ProblemCode[]).map(code => {
    const { cause, fix, retry } = errorReference[code]
    const { status, title } = problems[code]
    const rows = [
      ['Cause', cause],
      ['Fix', fix],
      ['Retry the same request', retryAdvice[retry]],
    ].map(([name, text = '']) => `<dt>${name}</dt><dd>${inline(text)}</dd>`)
    return `<section id="${code}">\n<h2><a href="#${code}">${code}</a></h2>\n<p>${status} ${title}</p>\n<dl>${rows.join('\n')}</dl>\n</section>\n`
  })
  return `<h1>Errors</h1>\n<p>${inline(introduction)}</p>\n${sections.join('')}`
}

const inline = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/`([^`]+)`/g, '<code>$1</code>')
