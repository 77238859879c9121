import { expect, test } from 'vitest'
import { planAgentInstructions } from './plan-agent.ts'

const reported = (reachable: string[] | null) =>
  planAgentInstructions({
    ...{
      repository: null,
      branch: null,
      base_ref: null,
      organization_rules: null,
      user_custom_prompt: null,
      instructions: null,
      left_out: null,
    },
    ...{ secrets: [], set_up_by: [], set_up: [], verified: [], checks: [], reachable },
  })

test('an agent is informed about what it can reach: nothing, nothing yet, or which hosts', () => {
  expect(reported(null)).toMatch(
    /nothing outside of the sandbox can be reached\. What is tried .* is refused with 403 and shown to the person/,
  )
  expect(reported([])).toMatch(/a proxy, which `http_proxy`.* It lets nothing out yet\. Whatever else is tried is refused with 403/)
  expect(reported(['registry.npmjs.org:443', 'a.example'])).toContain('It lets out to registry.npmjs.org:443, a.example.')
  const many = reported(Array.from({ length: 130 }, (_, n) => `n${n}.example`))
  expect(many).toContain('n99.example and 30 others.')
  expect(many).not.toContain('n100.example')
})
