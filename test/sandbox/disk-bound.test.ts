import { afterAll, expect, test } from 'vitest'
import { makeDriver, startSandbox } from './start-sandbox.ts'

const mebibyte = 1024 ** 2
const made = makeDriver()
afterAll(() => made[Symbol.asyncDispose]())

test('B41: a workspace that grows beyond its bytes has everything in it killed, and can be emptied; another one does not notice', async () => {
  const limits = { max_disk_bytes: 200 * mebibyte }
  await using box = await startSandbox(made.driver, made.makeWorkspace('bytes'), { limits })
  await using beside = await startSandbox(made.driver, made.makeWorkspace('bytes-beside'), { limits })
  const kept = beside.shell('head -c 50M /dev/zero >some; for i in {1..20}; do sleep 0.1; done; echo kept', { timeout_ms: 60_000 })
  const fill = 'for i in {1..1000}; do head -c 10M /dev/zero >"f$i"; sync "f$i"; done'
  const result = await box.shell(fill, { timeout_ms: 60_000 })
  expect(result).toMatchObject({ status: 'disk_limit', exit_code: null, shell_restarted: true })
  expect(result.size?.bytes).toBeGreaterThan(200 * mebibyte)
  expect(Number((await box.separate('du -sm . | cut -f1')).text)).toBeLessThan(2_000)
  expect(await kept).toMatchObject({ status: 'exited', text: 'kept\n' })
  expect(await box.shell('rm -f f*; echo empty')).toMatchObject({ status: 'exited', text: 'empty\n' })
  expect(await box.shell('head -c 50M /dev/zero >again; sleep 1; echo written')).toMatchObject({ text: 'written\n' })
}, 90_000)

test('B41: what is in a home folder that stays counts too', async () => {
  const home = made.makeWorkspace('home')
  await using box = await startSandbox(made.driver, made.makeWorkspace('bytes-home'), { home, limits: { max_disk_bytes: 50 * mebibyte } })
  const fill = 'for i in {1..1000}; do head -c 10M /dev/zero >~/f$i; sync ~/f$i; done'
  expect(await box.shell(fill, { timeout_ms: 60_000 })).toMatchObject({ status: 'disk_limit' })
}, 90_000)

test('B42: the same for the number of files, also of what was left in the background', async () => {
  await using box = await startSandbox(made.driver, made.makeWorkspace('files'), { limits: { max_files: 5_000 } })
  await box.shell(`(setsid perl -e 'while (1) { open(my $f, ">", "z" . $n++) or die; close $f }' &)`)
  const result = await box.separate('sleep 100', { timeout_ms: 90_000 })
  expect(result).toMatchObject({ status: 'disk_limit', exit_code: null })
  expect(result.size?.files).toBeGreaterThan(5_000)
  expect((await box.separate('pgrep perl')).text).toBe('')
}, 120_000)
