import { describe, expect, test } from 'vitest'
import { chargesOf, type Rates, rateHeaders, sliceOf, type Window } from './rate-window.ts'

const rate = (requests: number, seconds: number) => ({ requests, seconds })
const rates: Rates = {
  standard: rate(60, 30),
  agent_creation: rate(10, 60),
  user_creation: rate(30, 60),
  setup_commands: rate(5, 60),
  log_analysis: rate(5, 60),
  tool_execution: rate(30, 60),
  recording: rate(1_000, 60),
  token_total: rate(60, 60),
  session: rate(600, 30),
}
const token = { token_id: 7, user_id: 4, browser: false, organization_id: 3 }
const names = (...given: Parameters<typeof chargesOf>) =>
  chargesOf(...given).map(
    ({ name, subject, refuses }) => `${name} of ${subject}${refuses ? '' : ', counted only'}`,
  )

describe('windows of a request', () => {
  test('its own window and the total, which refuses logs alone', () => {
    expect(names(rates, 'standard', token, false)).toEqual([
      'standard of token 7',
      'token_total of token 7, counted only',
    ])
    expect(names(rates, 'logs', token, false)).toEqual(['standard of token 7', 'token_total of token 7'])
    expect(names(rates, 'agent_creation', token, false)).toEqual([
      'agent_creation of token 7',
      'user_creation of user 4 organization 3',
      'token_total of token 7, counted only',
    ])
  })

  test('all tokens of a user spend one share of tool executions in an organization', () => {
    expect(names(rates, 'tool_execution', token, false)[0]).toBe('tool_execution of user 4 organization 3')
    expect(names(rates, 'tool_execution', { ...token, token_id: 8 }, false)[0]).toBe(
      'tool_execution of user 4 organization 3',
    )
  })

  test('a repeated creation is charged as an ordinary request', () => {
    expect(names(rates, 'agent_creation', token, true)).toEqual(names(rates, 'standard', token, false))
  })

  test("an organization's share is spent by its members alone", () => {
    expect(names(rates, 'setup_commands', token, false)[0]).toBe('setup_commands of organization 3')
    expect(names(rates, 'log_analysis', { ...token, organization_id: null }, false)).toEqual([
      'token_total of token 7, counted only',
    ])
  })

  test('reports of a recorded session are not charged to the total', () => {
    expect(names(rates, 'recording', token, false)).toEqual(['recording of token 7'])
  })

  test('a token of the page has a separate window and no total; what is switched off is not charged', () => {
    expect(names(rates, 'logs', { ...token, browser: true }, false)).toEqual(['session of token 7'])
    expect(names({ ...rates, standard: null, token_total: null }, 'standard', token, false)).toEqual([])
  })
})

test('up to a thousand requests each has its own time, beyond that they share a hundredth of the window', () => {
  expect([sliceOf(rate(60, 30)), sliceOf(rate(1_000, 60)), sliceOf(rate(1_001, 60))]).toEqual([1, 1, 600_000])
})

test('the headers list every window, and in short the refusing one with the least room', () => {
  const windows: Window[] = [
    { name: 'standard', rate: rate(60, 30), used: 10, reset_ms: 29_001, retry_ms: 0 },
    { name: 'token_total', rate: rate(60, 60), used: 70, reset_ms: 59_000, retry_ms: 0 },
  ]
  expect(rateHeaders(windows, () => true)).toEqual({
    'ratelimit-policy': '"standard";q=60;w=30, "token_total";q=60;w=60',
    ratelimit: '"standard";r=50;t=30, "token_total";r=0;t=59',
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '59',
  })
  expect(rateHeaders(windows, ({ name }) => name === 'standard')).toMatchObject({
    'x-ratelimit-remaining': '50',
    'x-ratelimit-reset': '30',
  })
  expect(rateHeaders([], () => true)).toEqual({})
})
