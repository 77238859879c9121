import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemFiles } from './host-files.ts'

test('of Maven a sandbox sees what it does not start without, and never its settings', () => {
  const seen = systemFiles('/usr/bin/node', '/empty').map(({ inside }) => inside)
  expect(seen.includes('/etc/maven/m2.conf')).toBe(existsSync('/etc/maven/m2.conf'))
  expect(seen.filter(path => ['/etc', '/etc/maven', '/etc/maven/settings.xml'].includes(path))).toEqual([])
})

test('an empty folder covers each settings folder of the host inside /usr, after /usr itself', () => {
  const files = systemFiles('/usr/bin/node', '/empty')
  const settings = ['/usr/etc', '/usr/local/etc'].filter(path => existsSync(path))
  expect(files.filter(({ host }) => host === '/empty')).toEqual(
    settings.map(inside => ({ host: '/empty', inside })),
  )
  expect(files[0]?.inside).toBe('/usr')
})
