import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { detectResources } from '../../src/sandbox/resources/detect.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** A folder instead of a mounted cgroup v2: the test reads what is written into it, nothing is limited. */
function fakeGroup(controllers: string, name = 'agentrun.service') {
  const folder = temporaryFolder()
  const own = join(folder.path, name)
  mkdirSync(own, { recursive: true })
  const parent = name.endsWith('agentrun-service') ? join(own, '..') : own
  writeFileSync(join(parent, 'cgroup.controllers'), `${controllers}\n`)
  const files: Record<string, string> = {
    '/proc/self/cgroup': `0::/${name}\n`,
    '/proc/self/mountinfo': `31 23 0:28 / ${folder.path} rw - cgroup2 cgroup2 rw\n`,
  }
  const read = (path: string) => files[path] ?? readFileSync(path, 'utf8')
  const groups = () => readdirSync(parent).filter(found => /^agentrun-\d/.test(found))
  const text = (...path: string[]) => readFileSync(join(parent, ...path), 'utf8')
  return { read, groups, text, parent, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}
const bounds = { max_memory_bytes: 1_000_000, cpus: 1.5, max_processes: 77 }

test('a delegated group of version 2 gets its controllers enabled, and each sandbox a group with every bound', async () => {
  using fake = fakeGroup('cpuset cpu io memory pids')
  const control = detectResources(fake.read)
  expect(control.means).toEqual({ memory: 'cgroup v2', cpu: 'cgroup v2', processes: 'cgroup v2' })
  expect(fake.text('cgroup.subtree_control')).toBe('+memory +cpu +pids')
  const tried = new Set(fake.groups())
  const group = control.open(bounds)
  const [made = ''] = fake.groups().filter(name => !tried.has(name))
  await group.add(4711)
  expect(fake.text(made, 'cgroup.procs')).toBe('4711')
  expect(fake.text(made, 'memory.max')).toBe('1000000')
  expect(fake.text(made, 'memory.swap.max')).toBe('0')
  expect(fake.text(made, 'cpu.max')).toBe('150000 100000')
  expect(fake.text(made, 'pids.max')).toBe('77')
  writeFileSync(join(fake.parent, made, 'memory.current'), '500\n')
  writeFileSync(join(fake.parent, made, 'memory.peak'), '900\n')
  writeFileSync(join(fake.parent, made, 'memory.events'), 'low 0\noom 3\noom_kill 2\n')
  writeFileSync(join(fake.parent, made, 'cpu.stat'), 'usage_usec 2500\nuser_usec 1\n')
  expect(group.usage()).toEqual({ memory_bytes: 500, peak_memory_bytes: 900, memory_kills: 2, cpu_ms: 2.5 })
})

test('a sandbox gives way to the service, unless it does work of the service', () => {
  using fake = fakeGroup('cpu memory pids')
  const control = detectResources(fake.read)
  const weightWith = (niceness: number) => {
    const before = new Set(fake.groups())
    control.open({ ...bounds, niceness })
    const [made = ''] = fake.groups().filter(name => !before.has(name))
    return fake.text(made, 'cpu.weight')
  }
  expect([weightWith(10), weightWith(0)]).toEqual(['25', '100'])
})

test('a service that has moved into its leaf creates groups beside the leaf, not below it', () => {
  using fake = fakeGroup('cpu memory pids', 'agentrun.service/agentrun-service')
  const control = detectResources(fake.read)
  control.open(bounds)
  expect(fake.groups().length).toBeGreaterThan(0)
  expect(existsSync(join(fake.parent, 'cgroup.subtree_control'))).toBe(true)
})

test('what version 2 does not have is held by other means, and version 1 is taken where version 2 has nothing', () => {
  using some = fakeGroup('pids')
  expect(detectResources(some.read).means).toEqual({
    memory: 'watchdog',
    cpu: 'niceness',
    processes: 'cgroup v2',
  })
  using none = fakeGroup('hugetlb')
  expect(detectResources(none.read).means).toEqual({
    memory: 'watchdog',
    cpu: 'niceness',
    processes: 'rlimit',
  })
})
