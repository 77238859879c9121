import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findPlaybook } from '../src/core/runs/playbook.ts'
import { awaitEnd } from './runs/await-run.ts'
import { type App, startApp } from './start-app.ts'

const clone = join(import.meta.dirname, '..')
const page = (path: string) => readFileSync(join(clone, path), 'utf8')
const bashBlocks = (path: string) =>
  [...page(path).matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(match => match[1] ?? '')

test("every curl of README.md and docs/how-to/use-the-api.md works when it is pasted with the first start's token", async () => {
  const blocks = bashBlocks('docs/how-to/use-the-api.md')
  // The README shows the first of them.
  expect(bashBlocks('README.md')).toEqual(blocks.slice(0, 1))
  await using app = await startApp()
  expect({ org_id: app.org_id, repo_id: app.repo_id }).toEqual({ org_id: 1, repo_id: 1 })
  const outputs: string[] = []
  for (const block of blocks) {
    outputs.push(await paste(app, block))
    // A person pastes the next one when the run has come to its end.
    await awaitEnd(app, 1)
  }
  const [created, read, logs, links, resumed, events, patch, files, notes, stopped] = outputs
  expect(outputs).toHaveLength(10)
  expect(JSON.parse(created ?? '')).toMatchObject({ id: 1, status: 'queued', organization_id: 1 })
  expect(JSON.parse(read ?? '')).toMatchObject({ id: 1, status: 'completed', terminal: true })
  const trace = JSON.parse(logs ?? '') as { logs: { message_type: string }[]; total_logs: number }
  expect(trace.logs.map(entry => entry.message_type)).toEqual(
    expect.arrayContaining(['USER_MESSAGE', 'ACTION', 'FINAL_ANSWER']),
  )
  expect(trace.logs).toHaveLength(trace.total_logs)
  // One run is one page.
  expect(links).toBe('')
  expect(JSON.parse(resumed ?? '')).toMatchObject({ id: 1, turn: 2 })
  expect(events).toMatch(/^id: 1$/m)
  expect(patch).toContain('+++ b/NOTES.md')
  expect(JSON.parse(files ?? '').items).toContainEqual(
    expect.objectContaining({ path: 'NOTES.md', kind: 'file' }),
  )
  expect(patch).toContain(`+${notes?.split('\n')[0]}\n`)
  expect(JSON.parse(stopped ?? '')).toMatchObject({
    id: 1,
    status: 'completed',
    result: 'There is a note now.',
  })
  expect((await app.call('GET', '/v1/organizations/1/agent/run/1')).body.github_pull_requests).toHaveLength(1)
}, 90_000)

test('every example of the playbook table can be played', () => {
  const examples = [...page('docs/how-to/playbooks.md').matchAll(/^\| `\w+`.*\| `([^|]+)` \|$/gm)]
    .map(match => match[1] ?? '')
    .filter(text => /^\w+: /.test(text))
  expect(examples).toHaveLength(10)
  for (const example of examples)
    expect({ example, found: findPlaybook(`\`\`\`playbook\n- ${example}\n\`\`\``) }).toMatchObject({
      found: { ok: true },
    })
  const all = examples.toSorted((a, b) => Number(a.startsWith('answer')) - Number(b.startsWith('answer')))
  expect(
    findPlaybook(`\`\`\`playbook\n${all.map(example => `- ${example}\n`).join('')}\`\`\``),
  ).toMatchObject({ ok: true })
})

test('AGENTS.md has at most 80 lines, and every rule names a file that shows it', () => {
  const lines = readFileSync(join(clone, 'AGENTS.md'), 'utf8').trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(80)
  const rules = lines.filter(line => line.startsWith('- ') && !line.includes('One idea per commit'))
  expect(rules.filter(line => !/→ `[\w./-]+`$/.test(line))).toEqual([])
})

/**
 * The output of bash for the block, run against the app instead of a service on the default port. Rejects
 * when it fails, as does an unsuccessful response.
 */
function paste(app: App, block: string): Promise<string> {
  const script = `set -eo pipefail\ncurl() { command curl --fail-with-body "$@" || { code=$?; [ $code -eq 23 ] || exit $code; }; }\n${block}`
  const child = spawn('bash', ['-c', script.replaceAll('http://127.0.0.1:4600', app.base_url)], {
    env: { PATH: process.env.PATH ?? '', AGENTRUN_TOKEN: app.token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    complaint += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code =>
      code === 0 ? resolve(output) : reject(new Error(`${block}\nended with ${code}: ${complaint}${output}`)),
    )
  })
}
