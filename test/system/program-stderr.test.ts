import { expect, test } from 'vitest'
import { runProgram } from '../../src/system/programs/run-program.ts'

test('the error output of a program is its last lines, none of them without its beginning', async () => {
  const stderrOf = async (script: string) => {
    const program = { program: '/bin/sh', args: ['-c', script], cwd: '/', env: {}, max_output_bytes: 0 }
    return (await runProgram(program).done).stderr
  }
  expect(await stderrOf('printf "one\\ntwo" >&2')).toBe('one\ntwo')
  const line = 'x'.repeat(9_000)
  // The border is in the first line, behind the first characters of what could be a secret.
  expect(await stderrOf(`printf 'secret%s\\n%s' ${line} ${line} >&2`)).toBe(`\n${line}`)
  expect(await stderrOf(`printf '%s%s' ${line} ${line} >&2`)).toBe('')
})
