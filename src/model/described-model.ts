import type { ModelSettings, ToolFamily } from '../contract/model-settings.ts'
import type { ReasoningEffort } from '../contract/reasoning-efforts.ts'
import { knownModel, type Pricing } from './model-prices.ts'

/** What the service knows about a model: from AGENTRUN_MODELS, else from its own table, else by its name. */
export type DescribedModel = {
  label: string
  context_tokens: number | null
  max_output_tokens: number | null
  pricing: Pricing | null
  reasoning_effort: ReasoningEffort | null
  tool_family: ToolFamily
  /** Whether a gateway of chat completions accepts the marks of Claude's prompt cache. */
  cache_marks: boolean
}

const CLAUDE = /claude/i
/** GPT-5 and later, and the models made for Codex. */
const GPT = /(^|[/.])(gpt-([5-9]|\d\d)|codex)/i

/** The longest responses of Claude before 4.6, in tokens; the SDK sends no larger limit for them. */
const OLDER_CLAUDE: [RegExp, number][] = [
  [/claude-3-haiku/, 4_096],
  [/claude-opus-4(?:[-.@][01](?!\d)|[-@]\d{8}|$)/, 32_000],
  [/claude-(?:opus|sonnet|haiku)-4(?:[-.@][0-5](?!\d)|[-@]\d{8}|$)/, 64_000],
]

/** Returns the longest response of an older Claude, also behind a gateway; null for other models. */
export const olderClaudeOutput = (name: string): number | null =>
  OLDER_CLAUDE.find(([names]) => names.test(name))?.[1] ?? null

/**
 * Returns what is known of a model: its settings, else the catalog, else rules over its id. Limits are in
 * tokens; null: not known.
 */
export function describeModel(id: string, settings: ModelSettings = {}): DescribedModel {
  const known = knownModel(id)
  const { reasoning_effort } = settings
  return {
    label: settings.label ?? known?.label ?? id.slice(id.indexOf('/') + 1),
    context_tokens: settings.context_tokens ?? known?.context_tokens ?? null,
    max_output_tokens: settings.max_output_tokens ?? known?.max_output_tokens ?? olderClaudeOutput(id),
    pricing: settings.price ? { price: settings.price } : known,
    reasoning_effort:
      reasoning_effort === undefined ? (CLAUDE.test(id) ? 'high' : 'medium') : reasoning_effort,
    tool_family: settings.tool_family ?? (GPT.test(id) ? 'apply_patch' : 'edit'),
    cache_marks: settings.cache_marks ?? false,
  }
}
