import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SAMPLE_FILES } from '../../src/core/repositories/sample.ts'

const storefront = {
  'README.md': '# Storefront\n\nThe shop of Acme. Run the tests with `node --test`.\n',
  'AGENTS.md':
    '- Tests: `node --test`. All must pass before you finish.\n- Keep modules free of dependencies.\n',
  'package.json': '{\n  "name": "storefront",\n  "version": "2.4.0",\n  "type": "module"\n}\n',
  '.github/workflows/ci.yml':
    'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n      - uses: actions/setup-node@v5\n        with: { node-version: 22 }\n      - run: node --test\n',
  'src/cart.js':
    'export function addItem(cart, item) {\n  return { ...cart, items: [...cart.items, item] }\n}\n\nexport function count(cart) {\n  return cart.items.length\n}\n',
  'src/money.js': "export function format(cents) {\n  return '$' + (cents / 100).toFixed(2)\n}\n",
  'test/cart.test.js':
    "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { addItem, count } from '../src/cart.js'\n\ntest('adds an item', () => {\n  assert.equal(count(addItem({ items: [] }, { sku: 'A1' })), 1)\n})\n",
}

const infrastructure = {
  'README.md': '# Infrastructure\n\nDeployment of the shop.\n',
  'cluster.yaml': 'region: eu-central-1\nnodes: 3\n',
}

/** The repositories of the team by name, with their files. The first one is that of the first start. */
const repositories: Record<string, Record<string, string>> = {
  invoice: SAMPLE_FILES,
  storefront,
  infrastructure,
}

/** The folder of the repositories, which the pages show as their owner. */
export const OWNER = 'acme'

/** The same author and time in each run of the script, so that the commits have the same names. */
const env = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada Lindgren',
  GIT_AUTHOR_EMAIL: 'ada@acme.example',
  GIT_AUTHOR_DATE: '2026-10-05T09:00:00Z',
  GIT_COMMITTER_NAME: 'Ada Lindgren',
  GIT_COMMITTER_EMAIL: 'ada@acme.example',
  GIT_COMMITTER_DATE: '2026-10-05T09:00:00Z',
}

/** Creates the repositories of the team below a folder and returns the path of the first one. */
export function createRepositories(folder: string): string {
  const paths = Object.entries(repositories).map(([name, files]) => {
    const path = join(folder, OWNER, name)
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(path, file)), { recursive: true })
      writeFileSync(join(path, file), content)
    }
    const git = (...args: string[]) => execFileSync('git', args, { cwd: path, env })
    git('init', '--quiet', '--initial-branch=main')
    git('config', 'receive.denyCurrentBranch', 'updateInstead')
    git('add', '.')
    git('commit', '--quiet', '-m', 'Initial commit')
    return path
  })
  return paths[0] ?? ''
}
