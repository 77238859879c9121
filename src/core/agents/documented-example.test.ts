import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { KNOWN_AGENTS } from './known-agents.ts'
import { registerAgents } from './registered-agents.ts'

const model = {
  gateway: 'http://127.0.0.1:3129',
  api: 'anthropic-messages',
  name: 'm',
  context_tokens: null,
  max_output_tokens: null,
} as const

it('the documented agent gets the address and each name of a model that Claude Code gets', () => {
  const page = readFileSync(new URL('../../../docs/how-to/other-agents.md', import.meta.url), 'utf8')
  const [, example = ''] = page.split('```json\n').map(part => part.split('```')[0])
  const registered = registerAgents(JSON.parse(example))
  if ('mistakes' in registered) throw new Error(registered.mistakes.join())
  const documented = registered.agents.get('my_agent')?.start(model, 'allow').environment
  const known = KNOWN_AGENTS.claude_code?.start(model, false).environment ?? {}
  const named = Object.entries(known).filter(([name]) => /^ANTHROPIC_/.test(name))
  expect(named.filter(([name]) => name.startsWith('ANTHROPIC_DEFAULT_'))).toHaveLength(4)
  expect(documented).toEqual(Object.fromEntries(named))
})
