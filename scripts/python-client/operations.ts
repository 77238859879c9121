import type { Json } from '../../src/contract/openapi/schemas.ts'
import { modelNames, moduleName } from './models.ts'
import { docstring, pascalCase, pythonName, pythonType, snakeCase } from './python-type.ts'
import type { NamedSchema, Row } from './schemas.ts'

/** The functions of a topic, each of which returns the call of one operation. */
export function operationModule(rows: Row[], schemas: NamedSchema[]): string {
  const names = modelNames(schemas)
  const homes = new Map(schemas.map(({ name, tag, output }) => [names.nameOf(name, output), tag]))
  const used = new Map<string, Set<string>>()
  const use = (name: string) => {
    const module = moduleName(homes.get(name) ?? '')
    used.set(module, (used.get(module) ?? new Set()).add(name))
    return name
  }
  const context = (output: boolean) => ({
    output,
    isEnum: names.isEnum,
    nameOf: (name: string) => use(names.nameOf(name, output)),
    define(field: string): string {
      throw new Error(`the inline object ${field} needs a name in the contract`)
    },
  })
  const lists = new Map(
    schemas.filter(({ schema }) => schema.type === 'array').map(({ name, schema }) => [name, schema]),
  )
  const blocks = rows.map(row => operationFunction(row, context, lists))
  const imports = [...used]
    .map(([module, types]) => `from agentrun.models.${module} import ${[...types].sort().join(', ')}\n`)
    .sort()
    .join('')
  return `${imports}\n\n${blocks.join('\n\n')}`
}

type Context = (output: boolean) => Parameters<typeof pythonType>[2]

function operationFunction(row: Row, context: Context, lists: Map<string, Json>): string {
  const { operation, method, path } = row
  const { operationId } = operation
  const of = (where: string) => operation.parameters.filter(parameter => parameter.in === where)
  const body = operation.requestBody?.content['application/json'].schema
  const query = of('query')
  // `dry_run` changes the response: the client has a call of its own for it.
  const flat = body === undefined ? [] : query.filter(({ name }) => name !== 'dry_run')
  const typed = body === undefined && query.length > 0 ? `${pascalCase(operationId)}Query` : null
  const paths = of('path').filter(({ name }) => name !== 'org_id')
  const organization = path.includes('{org_id}')
  const keywords = [
    ...(organization ? ['org_id: int | None = None'] : []),
    ...flat.map(
      ({ name, required, schema }) =>
        `${pythonName(name)}: ${queryType(schema, name, context)}${required ? '' : ' | None = None'}`,
    ),
  ]
  const more = typed ?? (body === undefined ? null : pythonType(body, operationId, context(false)))
  const parameters = [
    ...paths.map(({ name, schema }) => `${name}: ${pythonType(schema, name, context(false))}`),
    ...(keywords.length > 0 ? ['*', ...keywords] : []),
    ...(more === null ? [] : [`**${body === undefined ? 'query' : 'body'}: Unpack[${more}]`]),
  ]
  const result = resultOf(operation.responses[200].content, context, lists)
  const params = [
    ...(organization ? ['"org_id": org_id'] : []),
    ...paths.map(({ name }) => `"${name}": ${name}`),
  ]
  const given = [
    ...[`"${operationId}"`, `"${method}"`, `"${path}"`, result.read],
    ...(params.length > 0 ? [`params={${params.join(', ')}}`] : []),
    ...(typed === null ? [] : ['query=dict(query)']),
    ...(flat.length > 0
      ? [`query={${flat.map(({ name }) => `"${name}": ${pythonName(name)}`).join(', ')}}`]
      : []),
    ...(body === undefined ? [] : ['body=dict(body)']),
    ...(of('header').some(({ name }) => name === 'Idempotency-Key') ? ['keyed=True'] : []),
    ...(operation.security.length === 0 ? ['public=True'] : []),
  ]
  const queryClass = typed === null ? '' : `${queryDict(typed, query, context)}\n\n`
  const doc = docstring(`${operation.summary}: \`${method} ${path}\`.`, '    ')
  return `${queryClass}def ${snakeCase(operationId)}(${parameters.join(', ')}) -> Call[${result.type}]:\n${doc}    return Call(${given.join(', ')})\n`
}

/** A parameter that takes several values also takes one alone. */
function queryType(schema: Json, name: string, context: Context): string {
  if (schema.type !== 'array') return pythonType(schema, name, context(false))
  const item = pythonType((schema.items ?? {}) as Json, name, context(false))
  return `${item} | Sequence[${item}]`
}

function queryDict(name: string, query: Row['operation']['parameters'], context: Context): string {
  const fields = query.map(({ name: field, required, schema, description }) => {
    const type = queryType(schema, field, context)
    return `    ${pythonName(field)}: ${required ? type : `NotRequired[${type} | None]`}\n${description === undefined ? '' : docstring(description, '    ')}`
  })
  return `class ${name}(TypedDict):\n${fields.join('')}`
}

/** The type of a success, and the function that reads it. `lists`: schemas that are lists of another one. */
function resultOf(
  content: Record<string, { schema: Json }>,
  context: Context,
  lists: Map<string, Json>,
): { type: string; read: string } {
  const json = content['application/json']?.schema
  if (json === undefined) return { type: 'bytes', read: 'whole_body' }
  // Of a response with two shapes, the first one is that of the plain request.
  const [first = json] = (json.oneOf ?? []) as Json[]
  if (first.$ref === undefined) return { type: 'dict[str, Any]', read: 'json_object' }
  const list = lists.get(String(first.$ref).replace('#/components/schemas/', ''))
  const type = pythonType((list?.items ?? first) as Json, '', context(true))
  if (list === undefined) return { type, read: `as_model(${type})` }
  return { type: `list[${type}]`, read: /^[A-Z]/.test(type) ? `as_models(${type})` : 'json_list' }
}
