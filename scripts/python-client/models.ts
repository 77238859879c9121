import type { Json } from '../../src/contract/openapi/schemas.ts'
import { docstring, literal, pascalCase, pythonName, pythonType, type TypeContext } from './python-type.ts'
import type { NamedSchema } from './schemas.ts'

export type ModelModule = { tag: string; text: string; names: string[] }

/** `imports`: the names that it needs of other modules. */
type ModuleDraft = { blocks: string[]; names: string[]; imports: Map<string, Set<string>> }

type Names = {
  /** The class or alias of a schema; an object that requests and responses share has two. */
  nameOf(name: string, output: boolean): string
  isEnum(name: string): boolean
}

export function modelNames(schemas: NamedSchema[]): Names {
  const isEnum = (name: string) => schemas.some(one => one.name === name && Array.isArray(one.schema.enum))
  const outputs = new Set(schemas.filter(({ output }) => output).map(({ name }) => name))
  return {
    isEnum,
    nameOf: (name, output) => (output || isEnum(name) || !outputs.has(name) ? name : `${name}Input`),
  }
}

/** Returns the modules of types, one for each topic, in an order in which each needs only earlier ones. */
export function modelModules(schemas: NamedSchema[]): ModelModule[] {
  const names = modelNames(schemas)
  const home = new Map<string, string>()
  const modules = new Map<string, ModuleDraft>()
  for (const item of schemas) {
    const { tag, schema, output } = item
    const name = names.nameOf(item.name, output)
    if (home.has(name)) continue
    const module: ModuleDraft = modules.get(tag) ?? { blocks: [], names: [], imports: new Map() }
    modules.set(tag, module)
    const add = (own: string, block: string) => {
      if (home.has(own)) throw new Error(`two Python types have the name ${own}`)
      home.set(own, tag)
      module.names.push(own)
      module.blocks.push(block)
    }
    const use = (reference: string) => {
      const used = names.nameOf(reference, output)
      const from = home.get(used)
      if (from !== undefined && from !== tag)
        module.imports.set(from, (module.imports.get(from) ?? new Set()).add(used))
      return used
    }
    defineSchema(name, schema, { output, isEnum: names.isEnum, nameOf: use, add })
  }
  return [...modules].map(([tag, { blocks, names: own, imports }]) => {
    const lines = [...imports]
      .map(
        ([from, used]) => `from agentrun.models.${moduleName(from)} import ${[...used].sort().join(', ')}\n`,
      )
      .sort()
    return {
      tag,
      names: own.sort(),
      text: `${lines.join('')}${lines.length ? '\n' : ''}\n${blocks.join('\n\n')}`,
    }
  })
}

export const moduleName = (tag: string) => tag.replaceAll('-', '_')

type Definitions = Omit<TypeContext, 'define'> & { add(name: string, block: string): void }

function defineSchema(name: string, schema: Json, definitions: Definitions): void {
  const doc = typeof schema.description === 'string' ? docstring(schema.description, '') : ''
  if (Array.isArray(schema.enum))
    definitions.add(name, `${name}: TypeAlias = ${literal(schema.enum)}\n${doc}`)
  else if (schema.type === 'object') defineClass(name, schema, definitions)
  else
    definitions.add(
      name,
      `${name}: TypeAlias = ${pythonType(schema, name, contextOf(name, definitions))}\n${doc}`,
    )
}

function contextOf(owner: string, definitions: Definitions): TypeContext {
  const define = (field: string, schema: Json) => {
    const name = `${owner}${pascalCase(field)}`
    defineClass(name, schema, definitions)
    return name
  }
  return { ...definitions, define }
}

/** An object of a response is a `Model` with attributes, one of a request a `TypedDict`. */
function defineClass(name: string, schema: Json, definitions: Definitions): void {
  const { output } = definitions
  const required = (schema.required ?? []) as string[]
  const nested: string[] = []
  const base = output ? (/^PageOf/.test(name) ? 'Page' : 'Model') : 'TypedDict'
  let item = ''
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([field, value]) => {
    const type = pythonType(value, field, contextOf(name, definitions))
    const model = output ? nestedModel(type) : null
    if (model !== null) nested.push(`${JSON.stringify(field)}: ${model}`)
    if (base === 'Page' && field === 'items') item = /^list\[(\w+)\]$/.exec(type)?.[1] ?? 'Any'
    const optional = !required.includes(field)
    const annotation = optional ? (output ? withNone(type) : `NotRequired[${type}]`) : type
    return `    ${pythonName(field)}: ${annotation}\n${typeof value.description === 'string' ? docstring(value.description, '    ') : ''}`
  })
  const table = nested.length === 0 ? '' : `    _nested: ClassVar[Nested] = {${nested.join(', ')}}\n`
  const doc = typeof schema.description === 'string' ? docstring(schema.description, '    ') : ''
  const own =
    base === 'Page' ? fields.filter(field => !/^ {4}(items|total|page|size|pages): /.test(field)) : fields
  const body = `${doc}${table}${own.join('')}` || '    pass\n'
  definitions.add(name, `class ${name}(${base === 'Page' ? `Page[${item}]` : base}):\n${body}`)
}

const withNone = (type: string) => (/(^| \| )None$/.test(type) ? type : `${type} | None`)

/** How a field of a response becomes a model: the class, in a list or as the values of an object. */
function nestedModel(type: string): string | null {
  const [, kind, name = ''] = /^(list\[|dict\[str, )?([A-Z]\w*)\]?(?: \| None)?$/.exec(type) ?? []
  if (name === '' || name === 'Any') return null
  return kind?.startsWith('dict') ? `Values(${name})` : name
}
