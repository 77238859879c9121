import { childEnv } from '../host-child-env.ts'
import { runProgram } from './run-program.ts'

/** Creates named pipes, 0660. Rejects with what `mkfifo` wrote. */
export async function createPipes(paths: string[]): Promise<void> {
  const how = { cwd: '/', env: childEnv(), max_output_bytes: 4_096 }
  const { code, stderr, start_error } = await runProgram({
    program: 'mkfifo',
    args: ['-m', '660', '--', ...paths],
    ...how,
  }).done
  if (code !== 0) throw new Error(`pipes cannot be created: ${start_error ?? stderr.trim()}`)
}
