/**
 * US dollars for a million tokens, as decimal text. `cache_write` is what a token costs that is read and put
 * into the provider's cache.
 */
type Rate = { input: string; cached: string; cache_write: string; output: string }

/** `long` holds for the whole call when its prompt has more than `over_tokens`. */
type Price = Rate & { long?: Rate & { over_tokens: number } }

/** What a model costs. `later`: an announced change, from that day on (UTC). */
export type Pricing = { price: Price; later?: { from: string; price: Price } }

type KnownModel = Pricing & {
  /** `provider/model`. */
  id: string
  label: string
  provider: 'anthropic' | 'openai' | 'google'
  context_tokens: number
  /** The longest response, thinking included. */
  max_output_tokens: number
}

function rate(input: string, cached: string, cache_write: string, output: string): Rate {
  return { input, cached, cache_write, output }
}

function anthropic(name: string, label: string, context_tokens: number, price: Price): KnownModel {
  const max_output_tokens = name === 'claude-haiku-4-5' ? 64_000 : 128_000
  return { id: `anthropic/${name}`, label, provider: 'anthropic', context_tokens, max_output_tokens, price }
}

function openai(name: string, label: string, context_tokens: number, short: Rate, long?: Rate): KnownModel {
  const price = long ? { ...short, long: { ...long, over_tokens: 272_000 } } : short
  return {
    id: `openai/${name}`,
    label,
    provider: 'openai',
    context_tokens,
    max_output_tokens: 128_000,
    price,
  }
}

function google(name: string, label: string, price: Price, later?: KnownModel['later']): KnownModel {
  const limits = { context_tokens: 1_048_576, max_output_tokens: 65_536 }
  return { id: `google/${name}`, label, provider: 'google', ...limits, price, ...(later ? { later } : {}) }
}

/**
 * Public list prices of standard processing, as of 20 November 2026. Prices of cache writes are those of the
 * shortest lifetime.
 */
export const KNOWN_MODELS: KnownModel[] = [
  anthropic('claude-sonnet-5-5', 'Claude Sonnet 5.5', 1_000_000, rate('2', '0.1', '2.5', '10')),
  anthropic('claude-opus-5-5', 'Claude Opus 5.5', 1_000_000, rate('4', '0.2', '5', '20')),
  anthropic('claude-fable-5-1', 'Claude Fable 5.1', 1_000_000, rate('10', '0.25', '12.5', '50')),
  anthropic('claude-haiku-5-5', 'Claude Haiku 5.5', 1_000_000, {
    ...rate('0.1', '0.01', '0.125', '0.5'),
    long: { over_tokens: 100_000, ...rate('0.5', '0.05', '0.625', '2.5') },
  }),
  anthropic('claude-opus-5', 'Claude Opus 5', 1_000_000, rate('5', '0.5', '6.25', '25')),
  anthropic('claude-sonnet-5', 'Claude Sonnet 5', 1_000_000, rate('2', '0.2', '2.5', '10')),
  anthropic('claude-opus-4-8', 'Claude Opus 4.8', 1_000_000, rate('5', '0.5', '6.25', '25')),
  anthropic('claude-sonnet-4-6', 'Claude Sonnet 4.6', 1_000_000, rate('3', '0.3', '3.75', '15')),
  anthropic('claude-haiku-4-5', 'Claude Haiku 4.5', 200_000, rate('1', '0.1', '1.25', '5')),
  openai('gpt-6.1-sol', 'GPT-6.1 Sol', 1_050_000, rate('2', '0.1', '2.5', '10'), rate('4', '0.2', '5', '15')),
  openai(
    'gpt-6.1-terra',
    'GPT-6.1 Terra',
    1_050_000,
    rate('1', '0.05', '1.25', '5'),
    rate('2', '0.1', '2.5', '7.5'),
  ),
  openai('gpt-6-astra', 'GPT-6 Astra', 1_050_000, rate('10', '1', '12.5', '50'), rate('20', '2', '25', '75')),
  openai('gpt-6-sol', 'GPT-6 Sol', 1_050_000, rate('2', '0.2', '2.5', '10'), rate('4', '0.4', '5', '15')),
  openai(
    'gpt-6-luna',
    'GPT-6 Luna',
    1_050_000,
    rate('0.1', '0.01', '0.125', '0.5'),
    rate('0.2', '0.02', '0.25', '0.75'),
  ),
  openai('gpt-5.5', 'GPT-5.5', 1_050_000, rate('5', '0.5', '5', '30'), rate('10', '1', '10', '45')),
  openai('gpt-5.4', 'GPT-5.4', 1_050_000, rate('2.5', '0.25', '2.5', '15'), rate('5', '0.5', '5', '22.5')),
  openai('gpt-5.4-mini', 'GPT-5.4 mini', 400_000, rate('0.75', '0.075', '0.75', '4.5')),
  google('gemini-3.8-flash', 'Gemini 3.8 Flash', rate('0.75', '0.075', '0.75', '3.75'), {
    from: '2027-01-01',
    price: rate('1.5', '0.15', '1.5', '7.5'),
  }),
  google('gemini-4-argon', 'Gemini 4 Argon', rate('2', '0.1', '2', '10'), {
    from: '2026-12-01',
    price: rate('4', '0.2', '4', '20'),
  }),
  google('gemini-3.1-pro-preview', 'Gemini 3.1 Pro', {
    ...rate('2', '0.2', '2', '12'),
    long: { over_tokens: 200_000, ...rate('4', '0.4', '4', '18') },
  }),
  google('gemini-2.5-pro', 'Gemini 2.5 Pro', {
    ...rate('1.25', '0.125', '1.25', '10'),
    long: { over_tokens: 200_000, ...rate('2.5', '0.25', '2.5', '15') },
  }),
]

/**
 * Returns the model of an id, also of its dated snapshots (`claude-haiku-4-5-20251001`,
 * `gpt-5.4-2026-03-05`); null when it is not known.
 */
export function knownModel(id: string): KnownModel | null {
  const plain = id.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
  return KNOWN_MODELS.find(known => known.id === id || known.id === plain) ?? null
}
