import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
} from 'yaml'

/**
 * A YAML value with its 1-based line of the prompt. Scalars are always text: `run: true` is the command
 * `true`.
 */
export type YamlValue = YamlText | YamlList | YamlMap
export type YamlText = { kind: 'text'; line: number; text: string }
type YamlList = { kind: 'list'; line: number; items: YamlValue[] }
export type YamlMap = {
  kind: 'map'
  line: number
  entries: { key: string; line: number; value: YamlValue }[]
}

/**
 * An error in a playbook; `key` is the affected key (`run.expect_exit`, or `playbook` for the block itself).
 */
export class PlaybookMistake extends Error {
  override name = 'PlaybookMistake'
  readonly line: number
  readonly key: string
  constructor(line: number, key: string, message: string) {
    super(message)
    this.line = line
    this.key = key
  }
}

const MAX_PLAYBOOK_BYTES = 200_000
const MAX_DEPTH = 32
/** An invalid text costs some five microseconds for each. */
const MAX_LEXEMES = 30_000

/**
 * Returns the YAML of the prompt's one block with info string `playbook`; null when there is no such block.
 * Throws PlaybookMistake.
 */
export function readPlaybookBlock(prompt: string): YamlValue | null {
  const [block, second] = playbookBlocks(prompt)
  if (!block) return null
  if (second)
    throw new PlaybookMistake(second.line, 'playbook', 'a prompt can have one playbook, this is a second one')
  if (!block.closed)
    throw new PlaybookMistake(block.line, 'playbook', 'the fence of this block is never closed')
  if (Buffer.byteLength(block.text) > MAX_PLAYBOOK_BYTES) {
    throw new PlaybookMistake(block.line, 'playbook', `a playbook has at most ${MAX_PLAYBOOK_BYTES} bytes`)
  }
  const lines = new LineCounter()
  const lineOf = (offset: number) => block.line + lines.linePos(offset).line
  const root = parseYaml(block.text, lines, lineOf)
  return root ? toValue(root, lineOf, block.line) : { kind: 'text', line: block.line, text: '' }
}

type Block = { line: number; text: string; closed: boolean }

/**
 * Every fence is tracked, so that a playbook quoted inside another block is ignored. `line` is that of the
 * opening fence.
 */
function playbookBlocks(prompt: string): Block[] {
  const blocks: Block[] = []
  let open: { marks: string; indent: number; block: Block | null; content: string[] } | null = null
  for (const [index, line] of prompt.split(/\r\n|\n|\r/).entries()) {
    const [opening = '', indent = '', marks = ''] = /^( {0,3})(`{3,}|~{3,})/.exec(line) ?? []
    const info = line.slice(opening.length)
    if (!open) {
      if (marks === '' || (marks.startsWith('`') && info.includes('`'))) continue
      const block =
        info.trim().split(/\s+/)[0] === 'playbook' ? { line: index + 1, text: '', closed: false } : null
      if (block) blocks.push(block)
      open = { marks, indent: indent.length, block, content: [] }
    } else if (marks.startsWith(open.marks) && info.trim() === '') {
      if (open.block) Object.assign(open.block, { closed: true, text: `${open.content.join('\n')}\n` })
      open = null
    } else {
      open.content.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)))
    }
  }
  return blocks
}

/**
 * Depth is checked while the text is parsed: composing a deeply nested document exhausts the stack inside a
 * regular expression, which ends the whole process. Anchors, aliases and tags have no use in a playbook and
 * enable YAML bombs.
 */
function parseYaml(text: string, lines: LineCounter, lineOf: (offset: number) => number): Node | null {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens = []
  let lexemes = 0
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > MAX_DEPTH)
      throw new PlaybookMistake(lineOf(parser.offset), 'playbook', 'the YAML is nested too deeply')
    if (++lexemes > MAX_LEXEMES)
      throw new PlaybookMistake(lineOf(parser.offset), 'playbook', 'the YAML has too many parts')
  }
  for (const token of parser.end()) tokens.push(token)
  // The library compares each key with all before it; `toValue` detects duplicate keys instead.
  const composer = new Composer({ schema: 'failsafe', merge: false, uniqueKeys: false, prettyErrors: false })
  const documents: Document[] = [...composer.compose(tokens)]
  const [document, another] = documents
  const error = document?.errors[0]
  if (error) {
    const hint = /nested mapping/i.test(error.message) ? '; a text with ": " in it must be quoted' : ''
    throw new PlaybookMistake(
      lineOf(error.pos[0]),
      'playbook',
      `this is not valid YAML: ${error.message}${hint}`,
    )
  }
  if (another)
    throw new PlaybookMistake(lineOf(another.range?.[0] ?? 0), 'playbook', 'a playbook is one YAML document')
  const root = (document?.contents ?? null) as Node | null
  visit(root, {
    Node(_key, node) {
      const what = isAlias(node) ? 'aliases' : node.anchor ? 'anchors' : node.tag ? 'tags' : null
      if (what)
        throw new PlaybookMistake(
          lineOf(node.range?.[0] ?? 0),
          'playbook',
          `YAML ${what} are not allowed in a playbook`,
        )
    },
  })
  return root
}

/** Recursion is bounded by MAX_DEPTH. */
function toValue(node: unknown, lineOf: (offset: number) => number, parentLine: number): YamlValue {
  const range = isScalar(node) || isSeq(node) || isMap(node) ? node.range : null
  const line = range ? lineOf(range[0]) : parentLine
  if (isSeq(node)) return { kind: 'list', line, items: node.items.map(item => toValue(item, lineOf, line)) }
  if (!isMap(node)) return { kind: 'text', line, text: isScalar(node) ? String(node.value ?? '') : '' }
  const keys = new Set<string>()
  const entries = node.items.map(pair => {
    const key = toValue(pair.key, lineOf, line)
    if (key.kind !== 'text') throw new PlaybookMistake(key.line, 'playbook', 'a key must be a word')
    if (keys.has(key.text))
      throw new PlaybookMistake(
        key.line,
        'playbook',
        `the key ${JSON.stringify(key.text.slice(0, 100))} occurs twice in one map`,
      )
    keys.add(key.text)
    return { key: key.text, line: key.line, value: toValue(pair.value, lineOf, key.line) }
  })
  return { kind: 'map', line, entries }
}
