import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemFiles } from './host-files.ts'

test('of Maven a sandbox sees what it does not start without, and never its settings', () => {
  const seen = systemFiles('/usr/bin/node').map(({ inside }) => inside)
  expect(seen.includes('/etc/maven/m2.conf')).toBe(existsSync('/etc/maven/m2.conf'))
  expect(seen.filter(path => ['/etc', '/etc/maven', '/etc/maven/settings.xml'].includes(path))).toEqual([])
})
