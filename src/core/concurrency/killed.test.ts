import { expect, it } from 'vitest'
import { isKilled } from './killed.ts'

it.each([
  [{ code: null, signal: 'SIGKILL' }, ''],
  [{ code: 137 }, ''],
  [{ code: 143, signal: null }, ''],
  [{ code: 128 }, 'error: pack-objects died of signal 9\nerror: could not write'],
])('recognizes a program that was ended from outside: %j %j', (exit, stderr) => {
  expect(isKilled(exit, stderr)).toBe(true)
})

it.each([
  [{ code: 0 }, 'error: something died of signal 9'],
  [{ code: 1 }, ''],
  [{ code: 128 }, 'fatal: bad object'],
  [{ code: 139 }, ''],
  [{ code: null, signal: 'SIGSEGV' }, 'error: index-pack died of signal 11'],
  [{ code: 128 }, 'error: pack-objects died of signal 90'],
  [{ code: null }, ''],
])('takes a failure or a crash of the program itself for none: %j %j', (exit, stderr) => {
  expect(isKilled(exit, stderr)).toBe(false)
})
