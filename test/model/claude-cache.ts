import { createHash } from 'node:crypto'

type Block = { cache_control?: unknown }
type Body = { tools?: unknown[]; system: Block[]; messages: { content: Block[] }[] }

/**
 * The number of blocks before a mark in which Claude finds a cached prefix (its documentation of prompt
 * caching).
 */
const LOOKBACK = 20
const CHARACTERS_A_TOKEN = 4

/** Claude's prompt cache: counts a request as its API does. `marks` chooses those that count. */
export function claudeCache(marks: (marks: number[]) => number[] = all => all) {
  const cached = new Set<string>()
  return (body: unknown): { input: number; cached: number; cache_write: number } => {
    const { tools = [], system, messages } = body as Body
    const blocks: Block[] = [...(tools as Block[]), ...system, ...messages.flatMap(({ content }) => content)]
    const hash = createHash('sha256')
    const tokens: number[] = []
    const prefixes = blocks.map(({ cache_control: _, ...block }, index) => {
      const text = JSON.stringify(block)
      tokens.push((tokens[index - 1] ?? 0) + Math.ceil(text.length / CHARACTERS_A_TOKEN))
      return hash.update(text).copy().digest('hex')
    })
    const marked = marks(blocks.flatMap((block, index) => (block.cache_control === undefined ? [] : [index])))
    const reached = marked.flatMap(mark => Array.from({ length: LOOKBACK }, (_, back) => mark - back))
    const hit = Math.max(-1, ...reached.filter(index => cached.has(prefixes[index] ?? '')))
    for (const mark of marked) cached.add(prefixes[mark] ?? '')
    const upTo = (index: number) => tokens[index] ?? 0
    return {
      input: upTo(blocks.length - 1),
      cached: upTo(hit),
      cache_write: Math.max(upTo(marked.at(-1) ?? -1) - upTo(hit), 0),
    }
  }
}
