import fc from 'fast-check'
import { expect, test } from 'vitest'
import { manifest, proposed, tested } from '../../test/runs/setup/proposed-setup.ts'
import { SOURCES } from './hints/command-hints.ts'

test('several in one repository, each in its folder; what the root installs is not installed again, nor is an example', () => {
  const web = { 'web/package.json': manifest(tested), 'web/package-lock.json': '{}' }
  expect(proposed({ 'go.mod': 'module a\n', 'a_test.go': '', ...web })).toMatchObject({
    shown: ['(cd web && npm ci)'],
    proofs: [
      expect.arrayContaining(['test: go test ./...']),
      ['test: (cd web && npm test)', 'smoke: (cd web && npm ls --depth=0)'],
    ],
  })
  expect(proposed({ ...web, 'api/go.mod': 'module a\nrequire (b v1\n)' }).shown).toEqual([
    '(cd web && npm ci)',
    '(cd api && go mod download)',
  ])
  expect(proposed({ 'package.json': manifest({ workspaces: ['web'] }), ...web }).shown).toEqual([
    'npm install --no-audit --no-fund',
  ])
  expect(
    proposed({
      'go.mod': 'module a\n',
      'examples/package.json': manifest(tested),
      'examples/package-lock.json': '{}',
    }).ecosystems,
  ).toEqual(['go'])
})

test('its own documents add steps and tests, under our names; what no sandbox can do is reported as omitted', () => {
  const base = { 'package.json': manifest(tested), 'pnpm-lock.yaml': '' }
  const agents =
    '# Setup\n```sh\nsudo apt-get install libfoo\npnpm install\ncp .env.example .env\npnpm run codegen\n```\n# Tests\nRun `pnpm test:unit` before you push; see `src/a.ts`.\n'
  const proposal = proposed({ ...base, 'AGENTS.md': agents })
  expect(proposal.shown).toEqual([
    'cp .env.example .env',
    'npm install --global pnpm@10',
    'pnpm install --frozen-lockfile',
    'pnpm run codegen',
  ])
  expect(proposal.proofs[0]?.slice(0, 2)).toEqual(['test: pnpm test:unit', 'test: pnpm test'])
  expect(proposal.notes).toEqual([
    expect.stringContaining('installs packages of the system (AGENTS.md): sudo apt-get install libfoo'),
  ])

  const steps =
    'jobs:\n  copilot-setup-steps:\n    steps:\n      - uses: actions/checkout@v4\n      - run: npm ci\n      - run: |\n          mkdir -p tmp\n          npm run build\n'
  expect(proposed({ ...base, '.github/workflows/copilot-setup-steps.yml': steps }).shown).toEqual([
    'mkdir -p tmp',
    'npm install --global pnpm@10',
    'pnpm install --frozen-lockfile',
    'npm run build',
  ])
  expect(
    proposed({ ...base, '.cursor/environment.json': '{"install": "npm i && npm run generate"}' }).shown,
  ).toContain('npm i && npm run generate')
  const devcontainer =
    '{\n  // written manually\n  "postCreateCommand": {"a": "npm run build", "b": ["make", "-j2", "db"]},\n}'
  expect(proposed({ ...base, '.devcontainer/devcontainer.json': devcontainer }).shown).toContain(
    'npm run build',
  )

  const ci =
    'on: push\njobs:\n  lint:\n    steps: [{run: npm run lint}]\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm ci\n      - run: npm run build\n      - run: npm run test:node -- --coverage\n      - run: npm publish\n'
  const tested_by_ci = proposed({ ...base, '.github/workflows/ci.yml': ci })
  expect(tested_by_ci.shown).toEqual([
    'npm install --global pnpm@10',
    'pnpm install --frozen-lockfile',
    'npm run build',
  ])
  expect(tested_by_ci.proofs[0]?.[0]).toBe('test: npm run test:node -- --coverage')
  expect(
    proposed({
      Dockerfile: 'FROM debian\nRUN apt-get update && \\\n  make -C src all\n',
      'README.md': '# Tests\n```\n$ make -C src test\n```\n',
    }),
  ).toMatchObject({
    shown: ['make -C src all'],
    proofs: [['test: make -C src test', 'build: make -C src all']],
  })
})

test('a document that executes unreviewed downloads is reported', () => {
  const notes = (text: string) =>
    proposed({ Makefile: 'test:\n', 'README.md': `## Setup\n\`\`\`\n${text}\n\`\`\`\n` }).notes
  expect(notes('bash <(curl -s https://example.org/install.sh)')).toEqual([
    expect.stringContaining('it runs what it downloads (README.md)'),
  ])
  expect(notes('sudo apt-get install zlib1g-dev')).toEqual([])
})

test('for a repository without hints nothing is proposed', () => {
  expect(proposed({ 'notes.txt': 'hello' })).toMatchObject({ shown: [], to_prove: [], ecosystems: [] })
})

test('any files lead to a proposal, and never to an exception', () => {
  const names = [
    'package.json',
    'pyproject.toml',
    'setup.cfg',
    'setup.py',
    'go.mod',
    'Cargo.toml',
    'pom.xml',
    'Rakefile',
    'composer.json',
    'Makefile',
    'AGENTS.md',
    '.cursor/environment.json',
  ]
  const more = [
    '.devcontainer/devcontainer.json',
    '.github/workflows/ci.yml',
    'Dockerfile',
    'pnpm-lock.yaml',
    '.yarnrc.yml',
    'web/package.json',
    'requirements.txt',
    'tox.ini',
    'Makefile.PL',
    'phpunit.xml',
    'build.xml',
    'test_a.py',
  ]
  const values = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom(
      '{"scripts":{"test":7},"packageManager":[],"exports":{".":{".":null}}}',
      'jobs: {a: {steps: [1, {run: [x]}]}}',
      '[project]\ndependencies = 4',
      'a: &a [*a]',
    ),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names, ...more), values), files => {
      expect(proposed(files).commands.length).toBeLessThanOrEqual(30)
    }),
    { numRuns: 300 },
  )
  expect(SOURCES.length).toBeGreaterThan(0)
})

test('a manifest that cannot be read is named', () => {
  expect(proposed({ 'package.json': '{"name": "x", scripts: {' }).notes).toEqual([
    expect.stringMatching(/^package\.json cannot be read/),
  ])
  expect(proposed({ 'pyproject.toml': '[project\nname = ', 'a.py': '' }).notes).toEqual([
    expect.stringMatching(/^pyproject\.toml cannot/),
  ])
  expect(proposed({ 'package.json': '{}', 'pyproject.toml': '' }).notes).toEqual([])
})
