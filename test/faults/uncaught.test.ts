import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../database.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'

test('an error that nothing caught is logged with its stack and counted, and the service serves on', async () => {
  await using database = await createTestDatabase()
  using folder = temporaryFolder()
  const service = await startServiceProcess(
    {
      DATABASE_URL: database.url,
      AGENTRUN_DATA_DIR: join(folder.path, 'data'),
      AGENTRUN_METRICS_PORT: '0',
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'throw-on-signal.ts')}`,
    },
    'serve',
  )
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    service.child.kill('SIGTERM')
    await service.ended
  })
  expect(service.base_url, service.output).not.toBe('')
  const { child, ended } = service
  const uncaught: { event: string; error: string }[] = []
  const both = Promise.withResolvers<void>()
  let metrics = ''
  let text = service.output
  const read = (piece: string) => {
    text += piece
    const lines = text.split('\n').slice(0, -1)
    metrics ||= /"metrics are served",.*?"url":"([^"]+)"/.exec(text)?.[1] ?? ''
    uncaught.splice(0)
    for (const line of lines) if (line.includes('was not caught')) uncaught.push(JSON.parse(line))
    if (uncaught.length >= 2) both.resolve()
  }
  child.stderr?.on('data', read)
  child.kill('SIGUSR2')
  await Promise.race([both.promise, ended])
  expect(uncaught.map(({ event, error }) => [event, error]).sort()).toEqual([
    ['uncaughtException', expect.stringMatching(/^Error: thrown by a timer\n +at /)],
    ['unhandledRejection', expect.stringMatching(/^Error: rejected in the background\n +at /)],
  ])
  expect((await fetch(`${service.base_url}/readyz`)).status).toBe(200)
  const page = await (await fetch(`${metrics}/metrics`)).text()
  for (const event of ['uncaughtException', 'unhandledRejection'])
    expect(page).toContain(`agentrun_uncaught_errors_total{event="${event}"} 1\n`)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
})
