import { describe, expect, test } from 'vitest'
import { defaultBranch, parseAdvertisement, parseRemoteRefs } from './remote-refs.ts'

const a = 'a'.repeat(40)
const b = 'b'.repeat(40)

function refs(branches: Record<string, string>, head: { branch?: string; sha?: string } = {}) {
  const map = new Map(Object.entries(branches).map(([name, sha]) => [`refs/heads/${name}`, sha]))
  return { refs: map, head_branch: head.branch ?? null, head_sha: head.sha ?? null }
}

describe('the default branch', () => {
  test('is what HEAD names', () =>
    expect(defaultBranch(refs({ trunk: a, main: b }, { branch: 'trunk', sha: a }))).toBe('trunk'))
  test('with a HEAD that names a missing branch is main, then master, then the only one', () => {
    expect(defaultBranch(refs({ main: a, master: a, x: b }, { branch: 'gone' }))).toBe('main')
    expect(defaultBranch(refs({ master: a, x: b }, { branch: 'gone' }))).toBe('master')
    expect(defaultBranch(refs({ x: b }))).toBe('x')
    expect(defaultBranch(refs({ x: b, y: a }))).toBeNull()
  })
  test('with a detached HEAD is one with the same commit', () => {
    expect(defaultBranch(refs({ main: a, x: b }, { sha: b }))).toBe('x')
    expect(defaultBranch(refs({ zeta: b, main: b }, { sha: b }))).toBe('main')
  })
  test('is never guessed to be a branch of a run, and is one that HEAD names', () => {
    expect(defaultBranch(refs({ trunk: a, 'agent/run-1-x': b }, { branch: 'main' }))).toBe('trunk')
    expect(defaultBranch(refs({ 'agent/run-1-x': b }, { branch: 'main' }))).toBeNull()
    expect(defaultBranch(refs({ trunk: a, 'agent/run-1-x': a }, { sha: a }))).toBe('trunk')
    expect(defaultBranch(refs({ trunk: a, 'agent/run-1-x': b }, { branch: 'agent/run-1-x', sha: b }))).toBe(
      'agent/run-1-x',
    )
  })
  test('of no refs is null', () => expect(defaultBranch(refs({}))).toBeNull())
})

test('ls-remote is read, other refs and peeled tags left out', () => {
  const text = `ref: refs/heads/main\tHEAD\n${a}\tHEAD\n${a}\trefs/heads/main\n${b}\trefs/tags/v1\n${a}\trefs/tags/v1^{}\n${b}\trefs/pull/1/head\n${b}\trefs/remotes/origin/HEAD\n`
  const found = parseRemoteRefs(text)
  expect([...found.refs]).toEqual([
    ['refs/heads/main', a],
    ['refs/tags/v1', b],
  ])
  expect(found).toMatchObject({ head_branch: 'main', head_sha: a })
})

test('an advertisement is read, and a cut one is not taken for a smaller repository', () => {
  const line = (text: string) => `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`
  const bytes = Buffer.from(
    `${line(`${a} HEAD\0thin-pack symref=HEAD:refs/heads/main agent=x`)}${line(`${a} refs/heads/main`)}${line(`${b} refs/tags/v1`)}${line(`${a} refs/tags/v1^{}`)}0000`,
  )
  const found = parseAdvertisement(bytes)
  expect(found).toMatchObject({ head_branch: 'main', head_sha: a })
  expect([...(found?.refs.keys() ?? [])]).toEqual(['refs/heads/main', 'refs/tags/v1'])
  expect(parseAdvertisement(bytes.subarray(0, -4))).toBeNull()
  expect(parseAdvertisement(bytes.subarray(0, 80))).toBeNull()
  expect(parseAdvertisement(Buffer.from('zzzz'))).toBeNull()
  expect(parseAdvertisement(Buffer.from('0000'))?.refs.size).toBe(0)
})
