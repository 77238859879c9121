import { afterAll, beforeAll, expect, it } from 'vitest'
import { readFile, SandboxFileError, writeFile } from '../../src/sandbox/files.ts'
import { makeDriver, startSandbox, type TestSandbox } from './start-sandbox.ts'

const created = makeDriver()
let box: TestSandbox

beforeAll(async () => {
  box = await startSandbox(created.driver, created.makeWorkspace('files'))
})
afterAll(async () => {
  await box[Symbol.asyncDispose]()
  await created[Symbol.asyncDispose]()
})

const read = async (path: string, max_bytes = 1_000_000) =>
  (await readFile(box.sandbox, path, { max_bytes })).toString('latin1')
const codeOf = (action: Promise<unknown>) =>
  action.then(
    () => 'done',
    error => (error instanceof SandboxFileError ? error.code : error),
  )

it('returns byte by byte what was written, of any size up to the limit', async () => {
  for (const size of [0, 1, 1_000, 70_000, 1_000_000]) {
    const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (index * 31) % 256))
    await writeFile(box.sandbox, 'bytes', bytes)
    expect(
      (await readFile(box.sandbox, 'bytes', { max_bytes: 1_000_000 })).equals(bytes),
      `${size} bytes`,
    ).toBe(true)
  }
  expect(await codeOf(read('bytes', 999_999))).toBe('too_large')
})

it.each([
  'a b',
  '-rf',
  '--',
  "it's",
  '$(touch pwned)',
  '`touch pwned`',
  'new\nline',
  '"',
  '\\',
  '*',
  'deep/er/file',
  'ünïcödé',
  '\x1b[2J',
  '~',
  '%s',
])('takes %j for a name and nothing else', async path => {
  await writeFile(box.sandbox, path, Buffer.from(path))
  expect(await readFile(box.sandbox, path, { max_bytes: 100 })).toEqual(Buffer.from(path))
  expect(await codeOf(read('pwned'))).toBe('not_found')
})

it('reports clearly what cannot be read', async () => {
  await box.shell('mkdir -p dir; ln -sf /nowhere dangling; touch closed; chmod 000 closed')
  expect(await codeOf(read('missing'))).toBe('not_found')
  expect(await codeOf(read('dir/missing/deeper'))).toBe('not_found')
  expect(await codeOf(read('dangling'))).toBe('not_found')
  expect(await codeOf(read('dir'))).toBe('is_directory')
  expect(await codeOf(read('closed'))).toBe('no_permission')
  expect(await codeOf(read('/etc/shadow'))).toBe('not_found')
})

it('reports clearly what cannot be written', async () => {
  expect(await codeOf(writeFile(box.sandbox, 'dir', Buffer.from('x')))).toBe('is_directory')
  expect(await codeOf(writeFile(box.sandbox, '/usr/bin/env', Buffer.from('x')))).toBe('no_permission')
  expect(await codeOf(writeFile(box.sandbox, '/new/file', Buffer.from('x')))).toBe('no_permission')
  await box.shell('touch plain')
  expect(await codeOf(writeFile(box.sandbox, 'plain/below', Buffer.from('x')))).toBe('failed')
})

it('C53: refuses pipes, devices and files of the kernel without waiting for them', async () => {
  await box.shell('mkfifo pipe; ln -s /proc/self/pagemap pages; ln -s /proc/self/oom_score_adj score')
  for (const path of ['pipe', '/dev/zero', 'pages', 'score', '/proc/self/pagemap', '/proc/meminfo']) {
    expect(await codeOf(read(path))).toBe('not_a_file')
    expect(await codeOf(writeFile(box.sandbox, path, Buffer.from('x')))).toBe('not_a_file')
  }
})

it('C49–C52: follows links inside the sandbox only, so no link and no race shows a file of the host', async () => {
  await box.shell(
    'ln -sfn /etc/passwd accounts; ln -sfn /etc etc-link; echo linked >target; ln -sf target link',
  )
  expect(await read('link')).toBe('linked\n')
  expect(await codeOf(read('etc-link/shadow'))).toBe('not_found')
  expect(await read('accounts')).toMatch(/^root:.*\nagent:.*\nnobody:.*\n$/)
  await writeFile(box.sandbox, 'link', Buffer.from('through'))
  expect(await read('target')).toBe('through')
})

it('C54: reads nothing of a file that is too large, however large it claims to be', async () => {
  await box.shell('truncate -s 1000M sparse; touch -d 2099-01-01 sparse')
  expect(await codeOf(read('sparse'))).toBe('too_large')
})

it('keeps the mode of a file that it overwrites', async () => {
  await box.shell('echo old >script; chmod 750 script')
  await writeFile(box.sandbox, 'script', Buffer.from('new'))
  expect((await box.shell("stat -c '%F %s %a' script")).text).toBe('regular file 3 750\n')
})

it('is not misled by what the agent did to its shell', async () => {
  await box.shell(
    'cd /tmp; head() { echo fake; }; export -f head; export PATH=/tmp LD_PRELOAD=/tmp/x.so BASH_ENV=/tmp/env; echo "echo fake" >/tmp/env',
  )
  await writeFile(box.sandbox, 'real', Buffer.from('real'))
  expect(await read('real')).toBe('real')
})
