/**
 * A process of its own that owns a sandbox, for a test that kills or freezes it. Given the driver's folder
 * and a command as JSON, it starts the sandbox, in a layer on `base` where there is one, runs the command,
 * prints "ready" and the ids of the processes that hold them, and waits. `last`: a command that runs at the
 * end; the owner then ignores signals of a terminal, and prints the result as JSON before it exits.
 */
import { limits, plainDriver } from './start-sandbox.ts'

const { runtime_dir, workspace, base, command, last } = JSON.parse(process.argv[2] ?? '{}')
const driver = plainDriver(runtime_dir)
const within = base === undefined ? undefined : await driver.layers?.open([{ folder: workspace, base }])
const sandbox = await driver.start({ workspace, read_only: [], limits, ...(within && { within }) })
await sandbox.exec({ command, shell: 'persistent', timeout_ms: 5_000, max_output_bytes: 1_000 })
const ids = [sandbox, within].flatMap(held => held?.identity?.split(' ')[2] ?? [])
process.stdout.write(`ready ${ids.join(' ')}\n`)
if (last === undefined)
  await sandbox.exec({
    command: 'sleep 1000',
    shell: 'persistent',
    timeout_ms: 1_000_000,
    max_output_bytes: 1_000,
  })
else {
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGTERM'] as const) process.on(signal, () => {})
  const kinds = ['persistent', 'separate'] as const
  const ends = kinds.map(shell =>
    sandbox.exec({ command: last, shell, timeout_ms: 30_000, max_output_bytes: 1_000 }),
  )
  const results = (await Promise.all(ends)).map(({ status, exit_code }) => ({ status, exit_code }))
  process.stdout.write(`${JSON.stringify(results)}\n`)
  await sandbox.stop()
  process.exit(0)
}
