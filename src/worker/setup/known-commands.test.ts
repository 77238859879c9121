import { expect, test } from 'vitest'
import { verifiedIn } from './known-commands.ts'

const setup = { commands: ['npm ci'] }
const evidence = [{ seq: 1, what: 'proof', ok: true, command: 'npm test', from: 'package.json', text: '' }]
const timings = { commands: [], proofs: [], total_ms: 1 }

test('a result that is not JSON, or of another shape, verifies nothing and ends no turn', () => {
  for (const result of ['', '{"commands": [', 'The setup was stopped.', '[]', 'null'])
    expect(verifiedIn(result, setup), result).toEqual([])
})

test('the command that verified the commands of the setup is known, for these commands only', () => {
  const found = {
    commands: ['npm ci'],
    verified: true,
    saved: true,
    reason: null,
    detail: 'x',
    evidence,
    timings,
    environment_digest: 'x',
  }
  expect(verifiedIn(JSON.stringify(found), setup)).toEqual(['npm test'])
  expect(verifiedIn(JSON.stringify(found), { commands: ['true'] })).toEqual([])
})
