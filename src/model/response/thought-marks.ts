/** A part of a text: what opens and what closes it, in lower case. */
export type Block = {
  kind: 'text' | 'reasoning'
  opening: string
  closing: string
  /** The opening tag may have attributes. */
  is_tag?: boolean
  /** Only right after a thought: many texts begin so otherwise. */
  after_thought?: boolean
}

/** Elements, as templates of models name them. MiniMax M3 writes `mm:think`, Seed-OSS `seed:think`. */
const ELEMENTS = ['think', 'thinking', 'thought', 'reasoning', 'seed:think', 'mm:think']
/** Hunyuan and Ernie wrap the answer that follows a thought. */
const RESPONSE_TAGS = ['answer', 'response']
/** gpt-oss, where the server does not read the harmony format: messages, each in a channel. */
const CHANNELS = [
  { kind: 'reasoning', name: 'analysis', closing: '<|end|>' },
  { kind: 'text', name: 'commentary', closing: '<|end|>' },
  { kind: 'text', name: 'final', closing: '<|return|>' },
] as const

const element = (name: string): Pick<Block, 'opening' | 'closing' | 'is_tag'> => ({
  opening: `<${name}>`,
  closing: `</${name}>`,
  is_tag: true,
})

/** The spellings that the reasoning parsers of vLLM and SGLang list, and tags that prompts ask for. */
export const BLOCKS: readonly Block[] = [
  ...ELEMENTS.map(name => ({ kind: 'reasoning' as const, ...element(name) })),
  ...RESPONSE_TAGS.map(name => ({ kind: 'text' as const, ...element(name), after_thought: true })),
  ...CHANNELS.flatMap(({ kind, name, closing }) =>
    ['', '<|start|>assistant'].map(start => ({
      kind,
      opening: `${start}<|channel|>${name}<|message|>`,
      closing,
    })),
  ),
  // Magistral, Kimi, Command, Gemma 4 and Apertus.
  { kind: 'reasoning', opening: '[think]', closing: '[/think]' },
  { kind: 'reasoning', opening: '\u25c1think\u25b7', closing: '\u25c1/think\u25b7' },
  { kind: 'reasoning', opening: '<|start_thinking|>', closing: '<|end_thinking|>' },
  { kind: 'text', opening: '<|start_response|>', closing: '<|end_response|>' },
  { kind: 'text', opening: '<|start_text|>', closing: '<|end_text|>' },
  { kind: 'reasoning', opening: '<|channel>thought', closing: '<channel|>' },
  { kind: 'reasoning', opening: '<|inner_prefix|>', closing: '<|inner_suffix|>' },
]

const MAX_ATTRIBUTE_CHARS = 200
/** The longest beginning of a text that may be an opening. */
export const MAX_OPENING_CHARS = MAX_ATTRIBUTE_CHARS + 60

/** An opening at the beginning of a text, and its length. */
type Opening = { block: Block; length: number }

/**
 * Returns the opening that a text in lower case begins with; `incomplete`: it may become one; null: it has
 * none.
 */
export function openingOf(lower: string, is_after_thought: boolean): Opening | 'incomplete' | null {
  let found: 'incomplete' | null = null
  for (const block of BLOCKS) {
    if (block.after_thought === true && !is_after_thought) continue
    const length = openingLength(lower, block)
    if (length === 'incomplete') found = length
    else if (length !== null) return { block, length }
  }
  return found
}

function openingLength(lower: string, { opening, is_tag }: Block): number | 'incomplete' | null {
  if (lower.startsWith(opening)) return opening.length
  if (opening.startsWith(lower)) return 'incomplete'
  const name = opening.slice(0, -1)
  if (is_tag !== true || !lower.startsWith(name) || !' \t'.includes(lower.charAt(name.length))) return null
  const attributes = lower.slice(name.length, name.length + MAX_ATTRIBUTE_CHARS)
  const end = attributes.search(/[<>\n]/)
  if (end < 0) return attributes.length < MAX_ATTRIBUTE_CHARS ? 'incomplete' : null
  return attributes[end] === '>' && attributes.lastIndexOf('=', end) > 0 ? name.length + end + 1 : null
}
