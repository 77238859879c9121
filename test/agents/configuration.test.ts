import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'

test.each([
  ['not JSON', 'must be JSON'],
  ['{"Bad Name": {}}', 'an id has up to 50 lower-case letters'],
  ['{"built_in": {}}', 'names of the built-in agent'],
  ['{"mine": {}}', 'mine, command is required'],
  ['{"opencode": {"folder": "relative"}}', 'must be an absolute path'],
  ['{"opencode": {"environment": {"A=B": "x"}}}', 'must be the name of a variable'],
  ['{"opencode": {"model": "x"}}', 'Unrecognized key'],
])('a mistake in AGENTRUN_AGENTS keeps the service from starting, with the field: %s', (value, message) => {
  expect(() => readConfig({ AGENTRUN_AGENTS: value })).toThrow(message)
})
