/**
 * A process of its own that owns a sandbox, for a test that kills it. Given the driver's options and a command as JSON, it starts the
 * sandbox, runs the command, prints "ready", and waits.
 */
import { createBubblewrapDriver } from '../../src/sandbox/bubblewrap.ts'
import { limits } from './start-sandbox.ts'

const { options, workspace, command } = JSON.parse(process.argv[2] ?? '{}')
const sandbox = await createBubblewrapDriver(options).start({ workspace, read_only: [], limits })
await sandbox.exec({ command, shell: 'persistent', timeout_ms: 5_000, max_output_bytes: 1_000 })
process.stdout.write('ready\n')
await sandbox.exec({ command: 'sleep 1000', shell: 'persistent', timeout_ms: 1_000_000, max_output_bytes: 1_000 })
