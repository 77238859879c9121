import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownSecretKey } from '../../src/system/secret-key.ts'
import { temporaryFolder } from '../temporary-folder.ts'

test('the key is created once, in a file that only its owner may read, and nothing else is left', () => {
  using folder = temporaryFolder()
  const key = ownSecretKey(folder.path)
  expect(key.length).toBe(32)
  expect(ownSecretKey(folder.path).equals(key)).toBe(true)
  expect(readdirSync(folder.path)).toEqual(['secret.key'])
  expect(statSync(join(folder.path, 'secret.key')).mode & 0o777).toBe(0o600)
  using other = temporaryFolder()
  expect(ownSecretKey(other.path).equals(key)).toBe(false)
})

test('a key that others may read or have given is refused, in one line', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'secret.key')
  ownSecretKey(folder.path)
  for (const mode of [0o640, 0o604, 0o666]) {
    chmodSync(path, mode)
    expect(() => ownSecretKey(folder.path)).toThrow(/^\S+secret\.key must belong to .*chmod 600 it$/)
  }
  chmodSync(path, 0o600)
  ownSecretKey(folder.path)
  if (process.getuid?.() !== 0) return
  chownSync(path, 61_003, 61_003)
  expect(() => ownSecretKey(folder.path)).toThrow('must belong to')
})

test('a file without a key, and a link instead of it, are refused, and stay unchanged', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'secret.key')
  for (const text of ['', 'short', 'x'.repeat(64)]) {
    writeFileSync(path, text, { mode: 0o600 })
    expect(() => ownSecretKey(folder.path)).toThrow(/contains no key/)
    expect(readFileSync(path, 'utf8')).toBe(text)
  }
  renameSync(path, join(folder.path, 'elsewhere'))
  symlinkSync('elsewhere', path)
  expect(() => ownSecretKey(folder.path)).toThrow('ELOOP')
})
