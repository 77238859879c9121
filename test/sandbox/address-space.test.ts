import { existsSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { createBubblewrapDriver } from '../../src/sandbox/bubblewrap/bubblewrap.ts'
import { detectResources } from '../../src/sandbox/resources/detect.ts'
import { limits, makeDriver, noTest, path, promises, sandbox_user, startSandbox } from './start-sandbox.ts'

const mebibyte = 1024 ** 2
const created = makeDriver()
afterAll(() => created[Symbol.asyncDispose]())
const forBubblewrap = promises.driver === 'bubblewrap' ? test : noTest
const onHost = promises.own_root ? noTest : test
const withChromium = promises.own_root ? noTest : test.skipIf(!existsSync('/usr/bin/chromium'))

/** As on a machine without control groups: everything else is real. */
const bare = createBubblewrapDriver({
  user: sandbox_user,
  path,
  node_path: process.execPath,
  runtime_dir: `${created.folder}/runtime-bare`,
  resources: detectResources(() => ''),
})

/** As much of the address space as .NET and Go's race detector reserve, and nothing of it used. */
const reserve = (command: string) => `python3 -c '
import ctypes, subprocess, sys
libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
assert libc.mmap(None, 256 << 30, 0, 0x4022, -1, 0) != 2**64 - 1
${command}'`

test.each([
  ['256 GiB that are reserved', reserve('print("reserved")'), 'reserved\n'],
  [
    '40 memories of WebAssembly',
    `node -e 'const all = []; for (let i = 0; i < 40; i++) all.push(new WebAssembly.Memory({ initial: 1 })); console.log(all.length)'`,
    '40\n',
  ],
])('a program may have %s', async (_name, command, output) => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('reserved'))
  expect(await box.shell(command)).toMatchObject({ exit_code: 0, text: output })
})

for (const sanitizer of ['address', 'leak', 'thread', 'undefined'])
  onHost(
    `a program with the ${sanitizer} sanitizer runs`,
    async () => {
      await using box = await startSandbox(created.driver, created.makeWorkspace(sanitizer))
      const source = 'int main() { int *all = new int[3]; delete[] all; }'
      const command = `echo '${source}' >a.cpp && g++ -fsanitize=${sanitizer} -o a a.cpp && ./a && ASAN_OPTIONS=halt_on_error=1 ./a && echo ran`
      expect(await box.shell(command, { timeout_ms: 60_000 })).toMatchObject({ exit_code: 0, text: 'ran\n' })
    },
    90_000,
  )

for (const program of ['chromium', 'chromium --disable-dev-shm-usage', '/usr/lib/chromium/chromium'])
  withChromium(
    `Chromium shows a page: ${program}`,
    async () => {
      await using box = await startSandbox(created.driver, created.makeWorkspace('chromium'), {
        limits: { max_memory_bytes: 2048 * mebibyte, max_processes: 512, max_tmp_bytes: 512 * mebibyte },
      })
      const page = '<canvas id=c></canvas><p id=p></p><script>document.all.p.textContent = 6 * 7</script>'
      const command = `${program} --headless --no-sandbox --disable-gpu --dump-dom 'data:text/html,${page}' 2>errors`
      const { exit_code, text } = await box.shell(command, { timeout_ms: 60_000 })
      expect([exit_code, text]).toEqual([0, expect.stringContaining('<p id="p">42</p>')])
    },
    90_000,
  )

forBubblewrap('/dev/shm has as much room as /tmp', async () => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('shm'), {
    limits: { max_tmp_bytes: 96 * mebibyte },
  })
  expect(
    (await box.shell('df --output=size -m /dev/shm /tmp | tail -n +2')).text.split('\n').map(Number),
  ).toEqual([96, 96, 0])
})

forBubblewrap(
  'without control groups the watchdog bounds the memory of processes that have reserved far more',
  async () => {
    await using box = await startSandbox(bare, created.makeWorkspace('watched'), {
      limits: { max_memory_bytes: 300 * mebibyte },
    })
    expect(await box.shell(reserve('print("reserved")'))).toMatchObject({
      text: 'reserved\n',
      memory_kills: 0,
    })
    const grow = 'all = [bytearray(10 << 20) for _ in range(400)]; print("unbounded")'
    const result = await box.shell(`${reserve(grow)} & wait $!; echo $?`, { timeout_ms: 60_000 })
    expect(result).toMatchObject({ text: expect.stringMatching(/(^|\n)137\n$/), memory_kills: 1 })
    expect(result.text).not.toMatch(/^unbounded$/m)
    expect(await box.shell('echo alive')).toMatchObject({
      text: expect.stringMatching(/^alive\n$/m),
      memory_kills: 0,
    })
  },
  90_000,
)

test('a limit of the address space applies where the operator sets one', async () => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('limited'), {
    limits: { max_process_bytes: 2 ** 36 },
  })
  expect((await box.shell(reserve('print("reserved")'))).text).toContain('AssertionError')
  expect((await box.shell('ulimit -v')).text).toBe(`${2 ** 26}\n`)
  expect(limits.max_process_bytes).toBeNull()
})
