import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeDriver, startSandbox, type TestSandbox } from './start-sandbox.ts'

const created = makeDriver()
let box: TestSandbox

beforeAll(async () => {
  box = await startSandbox(created.driver, created.makeWorkspace('commands'))
})
afterAll(async () => {
  await box[Symbol.asyncDispose]()
  await created[Symbol.asyncDispose]()
})

it('keeps directory, variables, functions and options of the shell from command to command', async () => {
  await box.shell(
    'mkdir -p sub; cd sub; plain=1; export EXPORTED=2; declare -A map=([k]=3); f() { echo "f $1"; }; shopt -s nullglob',
  )
  const { text, shell_restarted } = await box.shell(
    `pwd; echo $plain \${map[k]}; printenv EXPORTED; f 4; shopt -q nullglob && echo nullglob`,
  )
  expect(text).toBe('/workspace/sub\n1 3\n2\nf 4\nnullglob\n')
  expect(shell_restarted).toBe(false)
})

it.each([
  ['true', 0],
  ['false', 1],
  ['(exit 42)', 42],
  ['no-such-command', 127],
  ['sh -c "kill -9 \\$\\$"', 137],
  ['if', 2],
  ['-x', 127],
  ['', 0],
  ['# nothing', 0],
])('reports the exit code of %s in both shells', async (command, exit_code) => {
  expect(await box.shell(command)).toMatchObject({ status: 'exited', exit_code })
  expect(await box.separate(command)).toMatchObject({ status: 'exited', exit_code })
})

it('restarts the shell, in /workspace, after a command that ended it', async () => {
  await box.shell('cd /tmp; lost=1')
  expect(await box.shell('echo before; exit 3; echo after')).toMatchObject({
    exit_code: 3,
    text: 'before\n',
    shell_restarted: true,
  })
  expect(await box.shell('pwd; echo "[$lost]"')).toMatchObject({
    text: '/workspace\n[]\n',
    shell_restarted: false,
  })
})

it('runs a separate command untouched by the shell, in /workspace, with the given standard input', async () => {
  await box.shell('cd /tmp; export PATH=/nowhere HIDDEN=1; cat() { echo fake; }')
  const result = await box.separate('pwd; cat; echo "[$HIDDEN]" >&2', { stdin: Buffer.from('a\0b') })
  expect(result.text).toBe('/workspace\na\0b[]\n')
  await box.shell('exit')
})

it('mixes standard output and standard error in the order written', async () => {
  const command = 'for i in 1 2 3; do echo out $i; echo err $i >&2; done'
  const text = 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n'
  expect((await box.shell(command)).text).toBe(text)
  expect((await box.separate(command)).text).toBe(text)
})

it('streams standard output to the sink byte by byte and keeps standard error apart', async () => {
  const chunks: Uint8Array[] = []
  const result = await box.sandbox.stream(
    {
      command: 'head -c 3000000 /dev/zero; echo warned >&2; exit 7',
      timeout_ms: 10_000,
      max_output_bytes: 100,
    },
    async chunk => {
      await new Promise(resolve => setImmediate(resolve))
      chunks.push(chunk)
    },
  )
  expect(Buffer.concat(chunks).equals(Buffer.alloc(3_000_000))).toBe(true)
  expect(result).toMatchObject({ status: 'exited', exit_code: 7, output_bytes: 7, truncated: false })
})

it('runs queued shell commands one after the other and lets a waiting one be taken back', async () => {
  const taken_back = new AbortController()
  const first = box.shell('sleep 0.2; echo first >>order')
  const second = box.shell('echo second >>order', { signal: taken_back.signal })
  const third = box.shell('echo third >>order; cat order')
  taken_back.abort()
  expect(await second).toMatchObject({ status: 'interrupted', exit_code: null, shell_restarted: false })
  expect((await third).text).toBe('first\nthird\n')
  await first
})
