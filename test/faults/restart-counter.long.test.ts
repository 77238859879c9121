import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { waitUntil } from '../../src/system/processes.ts'
import { launchService, smallClone, stampPackages } from '../system/small-clone.ts'

/** The supervisor with shorter times, and a service that does `begin`, is ready, and then ends so. */
function launchEnding(clone: string, end: string, begin = '', roles = ['serve']) {
  const supervisor = join(clone, 'supervisor.sh')
  const times = 'MAX_RESTARTS=3 FIRST_DELAY=0.1 MAX_DELAY=1 STABLE=1'
  const shorter = readFileSync(supervisor, 'utf8').replace(/^MAX_RESTARTS=.*$/m, times)
  expect(shorter).toContain(times)
  writeFileSync(supervisor, shorter.replace(/^ +delay=\$\(\(delay.*$/m, ''))
  mkdirSync(join(clone, 'src'))
  writeFileSync(
    join(clone, 'src/main.ts'),
    `import { existsSync, writeFileSync, writeSync } from 'node:fs'; writeSync(2, \`after \${process.env.SUPERVISOR_CRASHED_PID ?? 'none'}, \${process.pid}\\n\`); ${begin}; writeSync(3, 'ready\\n'); setTimeout(() => ${end}, 2_000)`,
  )
  stampPackages(clone)
  const child = launchService(clone, {}, roles)
  let restarts = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    restarts += text
  })
  return { child, restarts: () => restarts }
}

test('a service that is killed again and again is not restarted for ever, however long each lived', async () => {
  using clone = smallClone('')
  const { child, restarts } = launchEnding(clone.path, "process.kill(process.pid, 'SIGKILL')")
  expect((await once(child, 'close'))[0]).toBe(137)
  expect(restarts()).toContain('it is not restarted, because it ended 4 times in a row')
}, 60_000)

test('one that crashes after it was stable is always restarted', async () => {
  using clone = smallClone('')
  const { child, restarts } = launchEnding(clone.path, 'process.exit(1)')
  const count = () => restarts().split('restart 1 of 3').length - 1
  expect(await waitUntil(() => count() >= 5, 50_000), restarts()).toBe(true)
  child.kill('SIGTERM')
  await once(child, 'close')
}, 60_000)

test('a service that died of what it worked on is named to the next one, and one that an operator killed is not', async () => {
  for (const [end, named] of [
    ['process.abort()', true],
    ["process.kill(process.pid, 'SIGKILL')", false],
    ['process.exit(1)', false],
  ] as const) {
    using clone = smallClone('')
    const { child, restarts } = launchEnding(clone.path, end)
    const starts = () => [...restarts().matchAll(/after (\w*), (\d+)\n/g)]
    expect(await waitUntil(() => starts().length >= 2, 50_000), restarts()).toBe(true)
    child.kill('SIGTERM')
    await once(child, 'close')
    const [first, second] = starts()
    expect(first?.[1]).toBe('none')
    expect(second?.[1]).toBe(named ? first?.[2] : '')
  }
}, 180_000)

test('a crash is named until a service was ready, which has recorded it', async () => {
  using clone = smallClone('')
  const failOnce =
    "if (process.env.SUPERVISOR_CRASHED_PID && !existsSync('failed')) { writeFileSync('failed', ''); process.exit(1) }"
  const { child, restarts } = launchEnding(clone.path, 'process.abort()', failOnce)
  const starts = () => [...restarts().matchAll(/after (\w*), (\d+)\n/g)]
  expect(await waitUntil(() => starts().length >= 3, 50_000), restarts()).toBe(true)
  child.kill('SIGTERM')
  await once(child, 'close')
  expect(
    starts()
      .slice(1, 3)
      .map(start => start[1]),
  ).toEqual([starts()[0]?.[2], starts()[0]?.[2]])
}, 60_000)

test('when the worker is not restarted, the API is stopped too, with the exit code of the worker', async () => {
  using clone = smallClone('')
  const main = `
    if (process.argv[2] === 'work') process.exit(3)
    process.on('SIGTERM', () => { writeSync(2, 'the API was stopped\\n'); process.exit(0) })
`
  const { child, restarts } = launchEnding(clone.path, '{}', main, [])
  expect((await once(child, 'close'))[0]).toBe(3)
  expect(restarts()).toContain('the API was stopped')
}, 60_000)

test('a worker that crashes is restarted by itself, and it alone learns of its crash', async () => {
  using clone = smallClone('')
  const main = "writeSync(2, process.argv[2] + ' started\\n')"
  const end = "process.argv[2] === 'work' ? process.abort() : setInterval(() => {}, 1_000)"
  const { child, restarts } = launchEnding(clone.path, end, main, [])
  const starts = () => [...restarts().matchAll(/after (\w*), (\d+)\n(\w+) started/g)]
  expect(await waitUntil(() => starts().length >= 3, 50_000), restarts()).toBe(true)
  child.kill('SIGTERM')
  await once(child, 'close')
  const [api, worker, next] = starts()
  expect([api?.[3], worker?.[3], next?.[3]]).toEqual(['serve', 'work', 'work'])
  expect([api?.[1], worker?.[1], next?.[1]]).toEqual(['none', 'none', worker?.[2]])
  expect(restarts()).toContain('the worker ended by signal SIGABRT; restart 1 of 3')
}, 60_000)
