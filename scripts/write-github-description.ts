import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Writes `test/forge/github-description.json`: of GitHub's published OpenAPI description the operations that
 * the service uses, word for word, with everything they refer to. The whole of it is 13 MB in a package of
 * 385 MB, too much to install for a test:
 *   npm pack @octokit/openapi, unpack it, and give the path of its `generated/api.github.com.json`.
 */
const OPERATIONS: [string, string[]][] = [
  ['/user', ['get']],
  ['/app', ['get']],
  ['/user/repos', ['get']],
  ['/app/installations', ['get']],
  ['/installation/repositories', ['get']],
  ['/app/installations/{installation_id}/access_tokens', ['post']],
  ['/app-manifests/{code}/conversions', ['post']],
  ['/repos/{owner}/{repo}/installation', ['get']],
  ['/repos/{owner}/{repo}/pulls', ['get', 'post']],
  ['/repos/{owner}/{repo}/pulls/{pull_number}', ['get', 'patch']],
  ['/repos/{owner}/{repo}/pulls/{pull_number}/merge', ['put']],
  ['/repos/{owner}/{repo}/pulls/{pull_number}/reviews', ['get']],
  ['/repos/{owner}/{repo}/pulls/{pull_number}/comments', ['get']],
  ['/repos/{owner}/{repo}/issues', ['get']],
  ['/repos/{owner}/{repo}/issues/{issue_number}', ['get']],
  ['/repos/{owner}/{repo}/issues/{issue_number}/events', ['get']],
  ['/repos/{owner}/{repo}/issues/{issue_number}/comments', ['get', 'post']],
  ['/repos/{owner}/{repo}/issues/comments/{comment_id}', ['patch', 'delete']],
  ['/repos/{owner}/{repo}/commits/{ref}/check-runs', ['get']],
  ['/repos/{owner}/{repo}/commits/{ref}/statuses', ['get']],
  ['/repos/{owner}/{repo}/check-runs', ['post']],
  ['/repos/{owner}/{repo}/check-runs/{check_run_id}', ['patch']],
  ['/repos/{owner}/{repo}/statuses/{sha}', ['post']],
  ['/repos/{owner}/{repo}/collaborators/{username}/permission', ['get']],
]

type Description = {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, unknown>>
  components: Components
}
type Components = Record<string, Record<string, unknown>>

const source = process.argv[2]
if (source === undefined) throw new Error('give the path of api.github.com.json')
const whole = JSON.parse(readFileSync(source, 'utf8')) as Description
const components: Components = {}

function take(node: unknown): void {
  if (Array.isArray(node)) for (const item of node) take(item)
  else if (typeof node === 'object' && node !== null) {
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref' || typeof value !== 'string') take(value)
      else takeReference(value)
    }
  }
}

function takeReference(reference: string): void {
  const [, , kind = '', name = ''] = reference.split('/')
  const found = whole.components[kind]?.[name]
  if (found === undefined) throw new Error(`${reference} is not in the description`)
  components[kind] ??= {}
  if (name in components[kind]) return
  components[kind][name] = found
  take(found)
}

const paths = Object.fromEntries(
  OPERATIONS.map(([path, methods]) => [
    path,
    Object.fromEntries(
      methods.map(method => {
        const operation = whole.paths[path]?.[method]
        if (operation === undefined) throw new Error(`${method} ${path} is not in the description`)
        take(operation)
        return [method, operation]
      }),
    ),
  ]),
)
const { openapi, info } = whole
writeFileSync(
  'test/forge/github-description.json',
  `${JSON.stringify({ openapi, info, paths, components })}\n`,
)
