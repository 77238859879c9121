import { expect, test } from 'vitest'
import { parseAfterSetup } from './workspace-commands.ts'

test('half a name of a created file is not a name: the lines around the cut of a truncated output are left out', () => {
  const whole = Buffer.from('agentrun-made a\nagentrun-changed ü b\nagentrun-made src/x\n')
  expect(parseAfterSetup(whole, null)).toEqual({ created: ['a', 'src/x'], changed: ['ü b'] })
  const head = 'agentrun-made a\nagentrun-made src'
  const output = Buffer.from(`${head}/lost\nagentrun-made end\nagentrun-changed c\n`)
  expect(parseAfterSetup(output, head.length)).toEqual({ created: ['a', 'end'], changed: ['c'] })
})
