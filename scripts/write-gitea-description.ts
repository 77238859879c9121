import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Writes `test/forge/gitea-description.json`: of Gitea's published API the operations that the service uses,
 * with everything they refer to, as JSON Schema. The package that has them has them as types, made from
 * Gitea's own Swagger description, and no description:
 *   npm pack gitea-js, unpack it, and give its folder.
 * The status and the response of a successful operation are not among the types, so they are listed here.
 */
const DONE: Record<string, number> = {
  userGetCurrent: 200,
  userCurrentListRepos: 200,
  repoGetRepoPermissions: 200,
  repoListStatuses: 200,
  repoCreateStatus: 201,
  repoListPullRequests: 200,
  repoGetPullRequest: 200,
  repoCreatePullRequest: 201,
  repoEditPullRequest: 201,
  repoMergePullRequest: 200,
  issueGetComments: 200,
  issueCreateComment: 201,
  issueEditComment: 200,
  issueDeleteComment: 204,
  issueListIssues: 200,
  issueGetIssue: 200,
  issueGetCommentsAndTimeline: 200,
  repoListPullReviews: 200,
  repoGetPullReviewComments: 200,
}

type Schema = Record<string, unknown>

const source = process.argv[2]
if (source === undefined) throw new Error('give the folder of the unpacked package')
const { name, version, license, repository } = JSON.parse(
  readFileSync(`${source}/package.json`, 'utf8'),
) as Record<string, string>
const types = readFileSync(`${source}/dist/index.d.ts`, 'utf8')
const definitions: Record<string, Schema> = {}

/**
 * Of one type as the generator writes them: words, lists, unions of texts, objects of members, and names of
 * others.
 */
function schemaOf(type: string): Schema {
  const text = type.trim()
  if (text.endsWith('[]')) return { type: 'array', items: schemaOf(text.slice(0, -2)) }
  if (/^'[^']*'( \| '[^']*')*$/.test(text))
    return { type: 'string', enum: text.split(' | ').map(word => word.slice(1, -1)) }
  if (text === 'string' || text === 'number' || text === 'boolean' || text === 'object') return { type: text }
  if (text === 'any' || text === 'void') return {}
  const record = /^Record<string, (.+)>$/.exec(text)?.[1]
  if (record !== undefined) return { type: 'object', additionalProperties: schemaOf(record) }
  if (!/^\w+$/.test(text)) throw new Error(`${text} is not a type that is known`)
  if (!(text in definitions)) {
    definitions[text] = {}
    definitions[text] = definitionOf(text)
  }
  return { $ref: `#/definitions/${text}` }
}

function definitionOf(type: string): Schema {
  const alias = new RegExp(`^type ${type} = (.+);$`, 'm').exec(types)?.[1]
  if (alias !== undefined) return schemaOf(alias)
  const members = new RegExp(`^interface ${type} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(types)?.[1]
  if (members === undefined) throw new Error(`${type} is not among the types`)
  return objectOf(members)
}

/** Members, each with its format in the comment before it. */
function objectOf(members: string): Schema {
  const found = [...members.matchAll(/(\/\*\*[\s\S]*?\*\/)?\s*^\s+(?:'([^']+)'|(\w+))(\?)?: (.+);$/gm)]
  const properties = found.map(([, comment = '', quoted, plain, , type = '']) => {
    const format = /@format ([\w-]+)/.exec(comment)?.[1]
    const schema = schemaOf(type)
    const whole = schema.type === 'number' && format?.includes('int') ? { type: 'integer' } : {}
    return [quoted ?? plain, { ...schema, ...whole, ...(format === 'date-time' && { format }) }]
  })
  const required = found
    .filter(([, , , , optional]) => optional === undefined)
    .map(([, , quoted, plain]) => quoted ?? plain)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    ...(required.length > 0 && { required }),
  }
}

function operationOf(operation: string, status: number): [string, Schema] {
  const start = types.indexOf(`\n        ${operation}: (`)
  const [method, path] =
    /@request (\w+):(\S+)/.exec(types.slice(types.lastIndexOf('/**', start), start))?.slice(1) ?? []
  const written =
    /^\n {8}\w+: \(([\s\S]*?)params\?: RequestParams\) => Promise<HttpResponse<(.+), \w+>>;/.exec(
      types.slice(start),
    )
  if (start < 0 || written === null || method === undefined)
    throw new Error(`${operation} is not among the types`)
  const [, given = '', answer = ''] = written
  const query = /query\?: \{\n([\s\S]*)\n {8}\}/.exec(given)?.[1]
  const body = /body: (\w+)/.exec(given)?.[1]
  return [
    `${method} ${path}`,
    {
      status,
      query: objectOf(query ? `${query}\n` : ''),
      ...(body !== undefined && { body: schemaOf(body) }),
      answer: schemaOf(answer),
    },
  ]
}

const operations = Object.fromEntries(
  Object.entries(DONE).map(([operation, status]) => operationOf(operation, status)),
)
const error = schemaOf('APIError')
const info = {
  source: `${name} ${version}`,
  made_from: 'the Swagger description of Gitea (MIT, The Gitea Authors)',
  repository,
  license,
}
writeFileSync(
  'test/forge/gitea-description.json',
  `${JSON.stringify({ info, operations, error, definitions })}\n`,
)
