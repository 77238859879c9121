import { afterAll, beforeAll, expect, test } from 'vitest'
import { openToolBox, type ToolBox } from './tool-box.ts'

const secret = 'deploy-key-0123456789'
let box: ToolBox
beforeAll(async () => {
  box = await openToolBox([{ name: 'API_KEY', value: secret }])
})
afterAll(() => box[Symbol.asyncDispose]())

const shell = async (command: string) => {
  const { output, text, result } = await box.call('shell', { command })
  return {
    output,
    text,
    whole: result.whole && Buffer.from(result.whole.bytes).toString('latin1'),
    truncated: result.truncated,
  }
}
const note = '[The output moved the cursor: this is what a terminal shows at its end.]'

test('of a progress bar the model and the trace get the last state, and the artifact has everything', async () => {
  const bar = `for i in $(seq 1 3000); do printf "\\rDownloading %d/3000 [####      ]" $i; done; echo; echo done`
  const { output, text, whole, truncated } = await shell(bar)
  expect(output).toMatchObject({
    output: 'Downloading 3000/3000 [####      ]\ndone\n',
    rewritten: true,
    truncated: false,
  })
  expect([text, truncated]).toEqual([`Downloading 3000/3000 [####      ]\ndone\n${note}`, false])
  expect(whole?.split('\r').slice(1)).toHaveLength(3000)
})

test('the same for bars of several lines, in colours, and of a real program', async () => {
  const lines = `python3 -c '
for n in range(1, 500):
  print("".join(f"\\x1b[2K\\x1b[32mlayer {i}\\x1b[0m {n}\\n" for i in range(3)) + "\\x1b[3A", end="")
print("\\x1b[3B", end="")'`
  const several = await shell(lines)
  expect(several.text).toBe(`layer 0 499\nlayer 1 499\nlayer 2 499\n${note}`)
  expect(several.output.output).toBe([0, 1, 2].map(i => `\x1b[32mlayer ${i}\x1b[0m 499\n`).join(''))
  const clone = `git init -q a && cd a && for i in $(seq 400); do echo $i >$i; done && git add . && git commit -qm first && cd .. &&
    git clone --progress file://$PWD/a b`
  const { text, whole } = await shell(clone)
  expect(whole?.match(/Receiving objects/g)?.length).toBeGreaterThan(50)
  expect(text.match(/Receiving objects/g)).toHaveLength(1)
  expect(text).toMatch(/^Receiving objects: 100% \(402\/402\).* done\.$/m)
})

test('a bar of more than 1 MiB leaves its beginning, its end, and little text', async () => {
  const { text, whole, truncated } = await shell(
    `python3 -c 'for n in range(60001): print(f"\\rstep {n} of many, many steps", end="")'`,
  )
  expect(truncated).toBe(true)
  expect(text.length).toBeLessThan(500)
  expect(text).toContain('step 60000 of many, many steps')
  expect(whole?.length).toBe(1024 ** 2)
})

test('a secret that moves of the cursor put together is redacted, and one that was overwritten is in no artifact', async () => {
  const together = await shell(`printf '      ${secret.slice(6)}\\r${secret.slice(0, 6)}\\n'`)
  expect(together.output.output).toBe('[redacted:API_KEY]\n')
  const overwritten = await shell(`printf '${secret}\\r\\033[Knothing\\n'`)
  expect(overwritten.output.output).toBe('nothing\n')
  expect(overwritten.whole).toContain('[redacted:API_KEY]')
})

test('output that moves no cursor is as it was: it has colours for viewers, none for the model, and no artifact', async () => {
  const { output, text, whole } = await shell(`printf '\\033[31mred\\033[0m\\tplain\\r\\n'`)
  expect(output).toMatchObject({ output: '\x1b[31mred\x1b[0m\tplain\r\n' })
  expect(output).not.toHaveProperty('rewritten')
  expect([text, whole]).toEqual(['red\tplain\r\n', null])
})
