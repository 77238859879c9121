import { readFileSync } from 'node:fs'
import { parseSync } from 'vite'

/** The words of a source file. `titles`: names of tests, with the strings of the tables that fill them. */
export type Words = { identifiers: Set<string>; strings: string[]; comments: string[]; titles: string[] }

type Node = { type: string } & Record<string, unknown>

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

/** Returns the words of a file of TypeScript. Specifiers of imports are left out. */
export function wordsOfSource(path: string): Words {
  const { program, comments } = parseSync(path, readFileSync(path, 'utf8'))
  const words: Words = {
    identifiers: new Set(),
    strings: [],
    comments: comments.map(({ value }) => value),
    titles: [],
  }
  collect(program, words)
  return words
}

function collect(value: unknown, words: Words): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, words)
    return
  }
  if (!isNode(value)) return
  if (/Identifier$/.test(value.type) && typeof value.name === 'string') words.identifiers.add(value.name)
  if (value.type === 'CallExpression' && testFunction(value.callee)) {
    words.titles.push(...stringsIn((value.arguments as unknown[])[0]))
    if (isNode(value.callee) && value.callee.type === 'CallExpression')
      words.titles.push(...stringsIn(value.callee.arguments))
  }
  words.strings.push(...ownText(value))
  const is_import = /^(Import|ExportNamed|ExportAll)/.test(value.type)
  for (const [key, child] of Object.entries(value))
    if (!(is_import && key === 'source')) collect(child, words)
}

/** Whether a call is one of `test`, `it` or `describe`, or of the result of `test.each(table)`. */
function testFunction(callee: unknown): boolean {
  if (!isNode(callee)) return false
  if (callee.type === 'Identifier') return ['test', 'it', 'describe'].includes(callee.name as string)
  return testFunction(callee.type === 'MemberExpression' ? callee.object : callee.callee)
}

function ownText(node: Node): string[] {
  if ((node.type === 'Literal' || node.type === 'JSXText') && typeof node.value === 'string')
    return [node.value]
  if (node.type === 'TemplateElement') return [(node.value as { raw: string }).raw]
  return []
}

/** The strings in an expression, without those in functions. */
function stringsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  if (!isNode(value) || value.type.includes('Function')) return []
  return [...ownText(value), ...Object.values(value).flatMap(stringsIn)]
}
