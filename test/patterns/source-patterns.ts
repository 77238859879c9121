import { type ESTree, parseSync, Visitor } from 'vite'
import { sourceFiles } from '../source-tree.ts'

/**
 * `where`: the file and the line. `inserted`: the code of parts that are known only at run time; the letter x
 * is in their position. Null as `source`: the whole pattern is such a part.
 */
export type SourcePattern = { where: string; source: string | null; flags: string; inserted: string[] }

/**
 * Returns all regular expressions of the code that is executed, by the parser of TypeScript that builds the
 * page.
 */
export const sourcePatterns = (): SourcePattern[] =>
  ['src', 'web/src', 'clients']
    .flatMap(folder => sourceFiles(folder, ['.ts', '.tsx']))
    .filter(({ path }) => !/\.test\.tsx?$/.test(path))
    .flatMap(({ path, text }) => patternsOf(path, text))

/** Returns the regular expressions of a file. Constant texts of the file are resolved. */
export function patternsOf(path: string, text: string): SourcePattern[] {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  const found: SourcePattern[] = []
  const constants = new Map<string, string>()
  const code = (node: ESTree.Span) => text.slice(node.start, node.end)
  const where = (node: ESTree.Span) => `${path}:${text.slice(0, node.start).split('\n').length}`
  const constantOf = (node: ESTree.Expression | ESTree.SpreadElement, inserted: string[]): string | null => {
    if (node.type === 'Literal' && typeof node.value === 'string') return node.value
    if (node.type === 'Identifier') return constants.get(node.name) ?? null
    if (node.type === 'MemberExpression' && node.object.type === 'Literal' && 'regex' in node.object)
      return node.object.regex.pattern
    if (node.type === 'MemberExpression') return constants.get(code(node)) ?? null
    if (node.type === 'TaggedTemplateExpression' && code(node.tag) === 'String.raw')
      return node.quasi.quasis.map(one => one.value.raw).join('')
    if (node.type !== 'TemplateLiteral') return null
    return node.quasis.reduce((all, { value }, i) => {
      const part = node.expressions[i]
      if (part === undefined) return all + value.cooked
      const known = constantOf(part, inserted)
      if (known === null) inserted.push(code(part))
      return `${all}${value.cooked}${known ?? 'x'}`
    }, '')
  }
  const addComposed = (call: ESTree.NewExpression | ESTree.CallExpression) => {
    const [source, flags] = call.arguments
    if (call.callee.type !== 'Identifier' || call.callee.name !== 'RegExp' || source === undefined) return
    const inserted: string[] = []
    const value = constantOf(source, inserted)
    if (value === null) inserted.push(code(source))
    found.push({
      where: where(call),
      source: value,
      flags: flags?.type === 'Literal' ? String(flags.value) : '',
      inserted,
    })
  }
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type !== 'Identifier' || init === null) return
      if (init.type === 'Literal' && 'regex' in init) constants.set(`${id.name}.source`, init.regex.pattern)
      const value = constantOf(init, [])
      if (value !== null) constants.set(id.name, value)
    },
    Literal(node) {
      if (!('regex' in node)) return
      found.push({ where: where(node), source: node.regex.pattern, flags: node.regex.flags, inserted: [] })
    },
    NewExpression: addComposed,
    CallExpression: addComposed,
  }).visit(program)
  return found
}
