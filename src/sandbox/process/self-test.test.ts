import { expect, it } from 'vitest'
import { explainFailure } from '../bubblewrap/explain-failure.ts'
import { findFault } from './self-test.ts'

const good = `Uid:\t1000\t1000\t1000\t1000
CapPrm:\t0000000000000000
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
interface     lo
usr closed
usr read-only
workspace written
`

const expected = { uid: 1000, usr: 'nosuid', findReachable: null, explain: String } as const

it('finds no fault in a report of full isolation', () => {
  expect(findFault(good, expected)).toBeNull()
})

it.each([
  ['', 'do not run'],
  [good.replace(/Uid:.*/, 'Uid:\t0\t0\t0\t0'), 'user 1000'],
  [good.replace(/CapEff:.*/, 'CapEff:\t0000000000000400'), 'capabilities'],
  [good.replace(/CapBnd:.*/, 'CapBnd:\t000001ffffffffff'), 'capabilities'],
  [good.replace('NoNewPrivs:\t1', 'NoNewPrivs:\t0'), 'set-user-id'],
  [good.replace('Seccomp:\t2', 'Seccomp:\t0'), 'filtered'],
  [good.replace('usr closed', ''), 'read-only'],
  [good.replace('usr read-only', ''), 'can be written'],
  [good.replace('workspace written', ''), 'workspace'],
  [`${good}interface eth0\n`, 'eth0'],
  [`${good}visible /etc/shadow\n`, '/etc/shadow'],
  [`${good}namespace made\n`, 'namespaces'],
])('finds a fault in %j', (report, word) => {
  expect(findFault(report, expected)).toContain(word)
})

it.each([
  [
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.',
    'sysctl',
  ],
  ['bwrap: setting up uid map: Permission denied', 'sysctl'],
  ['bwrap: Unknown option --disable-userns', '0.8.0'],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", '/proc unmasked'],
  ["bwrap: Can't find source path /root/x: Permission denied", 'pass through'],
  ['spawn ENOEXEC', 'reinstall'],
  ['/usr/bin/bwrap: 2: Syntax error: "(" unexpected', 'reinstall'],
  ['bwrap: prctl(PR_SET_SECCOMP): Invalid argument', 'CONFIG_SECCOMP_FILTER'],
])('reports the fix for %j in one line', (complaint, word) => {
  const line = explainFailure(`${complaint}\n`)
  expect(line).toContain(word)
  expect(line).toContain(complaint)
  expect(line).not.toContain('\n')
})
