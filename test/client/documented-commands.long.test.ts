import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { documentationPages, readPage } from '../documentation.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startResponding } from './responding-server.ts'
import { runCli } from './run-cli.ts'

/** Roles and operator's commands start the service itself; completion and help print. */
const local = /^(?:admin|all|serve|work|migrate|help|completion)\b/

/** Command lines in the code blocks of a page, without comments and without the name of the program. */
const commandLines = (page: string) =>
  [...readPage(page).matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    [...block.matchAll(/^(?:\.\/)?agentrun ([^#\n]+?) *(?:#.*)?$/gm)].map(([, line = '']) => line),
  )
const words = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain)

test('every agentrun command in a code block of the documentation is one that the command line accepts', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'file.txt')
  writeFileSync(file, 'content\n')
  await using server = await startResponding({
    status: 401,
    body: { status: 401, code: 'unauthorized', detail: 'no', title: 'no' },
  })
  const lines = documentationPages.flatMap(commandLines).filter(line => !local.test(line))
  expect(lines.length).toBeGreaterThan(25)
  const refused: string[] = []
  for (const line of new Set(lines)) {
    const args = words(line).map(word => (/\.(?:txt|pem)$/.test(word) ? file : word))
    const { code, err } = await runCli(args, {
      env: { AGENTRUN_URL: server.base_url, AGENTRUN_TOKEN: 'a-token', AGENTRUN_ORG: '1' },
    })
    if (code === 2) refused.push(`${line}: ${err}`)
  }
  expect(refused).toEqual([])
}, 60_000)
