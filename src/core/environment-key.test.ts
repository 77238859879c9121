import { expect, test } from 'vitest'
import { type EnvironmentParts, environmentKey, isManifest } from './environment-key.ts'

const parts: EnvironmentParts = {
  commands: ['npm ci'],
  variables: { A: '1', B: '2' },
  secrets: 's',
  manifests: [
    ['package.json', 'a'.repeat(40)],
    ['package-lock.json', 'b'.repeat(40)],
  ],
  base_ref: 'main',
  toolchain: 't',
}

test('the same parts have one key in whatever order they come', () => {
  const turned = { ...parts, variables: { B: '2', A: '1' }, manifests: parts.manifests.toReversed() }
  expect(environmentKey(turned)).toBe(environmentKey(parts))
  expect(environmentKey(parts)).toMatch(/^[0-9a-f]{32}$/)
})

test('a change of any of them has another key', () => {
  const changed: Partial<EnvironmentParts>[] = [
    { commands: ['npm ci', ''] },
    { commands: ['npm  ci'] },
    { variables: { A: '1' } },
    { secrets: 'r' },
    { manifests: [['package.json', 'a'.repeat(40)]] },
    {
      manifests: [
        ['package.json', 'a'.repeat(40)],
        ['package-lock.json', 'c'.repeat(40)],
      ],
    },
    { base_ref: 'other' },
    { toolchain: 'u' },
  ]
  const keys = [parts, ...changed.map(change => ({ ...parts, ...change }))].map(environmentKey)
  expect(new Set(keys).size).toBe(keys.length)
})

test('manifests are known by their names in every folder, scripts by the commands that name them, and other files are none', () => {
  const commands = ['bash scripts/prepare.sh --all && ./other.sh', 'cd web && ./tools/fetch.sh && pip install -r dev/all.txt']
  const manifests = [
    'package.json',
    'web/pnpm-lock.yaml',
    'requirements-dev.txt',
    'requirements/test.txt',
    'lib/x.gemspec',
    'a/b/Cargo.lock',
    'dev-requirements.txt',
    'patches/left-pad+1.3.0.patch',
    '.yarn/releases/yarn-4.5.0.cjs',
    'web/tools/fetch.sh',
    'web/dev/all.txt',
  ]
  const others = [
    'README.md',
    'src/package.json.ts',
    'notes.txt',
    'my-requirements/x.md',
    'poetry.lock.bak',
    'src/main.go',
    'lib/prepare.sh',
    'scripts/more.sh',
    'web/fetch.sh',
    'docs/patches/README.md',
  ]
  expect(manifests.filter(path => !isManifest(path, commands))).toEqual([])
  expect(others.filter(path => isManifest(path, commands))).toEqual([])
})
