import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { additionRows } from './rows.ts'
import { simulated_additions } from './simulated-additions.ts'
import { copySources, type SourceCopy } from './source-copy.ts'

const TIMEOUT_MS = 300_000

let copy: SourceCopy
let before: GeneratedTexts
beforeAll(() => {
  copy = copySources(['src', 'scripts', 'docs', 'clients', 'package.json'])
  before = generated()
}, TIMEOUT_MS)
afterAll(() => copy[Symbol.dispose]())

/** The files that the sources generate, by the script that writes them. */
type GeneratedTexts = { 'write-openapi.ts': string; 'write-python-client.ts': string }

/** Returns what the sources of the copy generate. */
function generated(): GeneratedTexts {
  const code = `
    import { rolesAndScopesMarkdown } from './scripts/roles-and-scopes.ts'
    import { documentText } from './scripts/write-openapi.ts'
    import { pythonFiles } from './scripts/write-python-client.ts'
    console.log(JSON.stringify({
      'write-openapi.ts': documentText() + rolesAndScopesMarkdown(),
      'write-python-client.ts': JSON.stringify([...pythonFiles()]),
    }))`
  const args = ['--input-type=module', '-e', code]
  const options = { cwd: copy.folder, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 } as const
  return JSON.parse(execFileSync(process.execPath, args, options))
}

test.each(simulated_additions)(
  'ARCHITECTURE.md names the scripts whose generated files change with $what',
  { timeout: TIMEOUT_MS },
  ({ what, insertions }) => {
    const row = additionRows().find(one => one.what === what)
    using _ = copy.insert(insertions)
    const after = generated()
    const changed = Object.entries(before).filter(
      ([script, text]) => after[script as keyof GeneratedTexts] !== text,
    )
    const scripts = changed.map(([script]) => script)
    expect(scripts.filter(script => !row?.touch.includes(`\`node scripts/${script}\``))).toEqual([])
  },
)
