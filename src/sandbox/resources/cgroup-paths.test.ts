import { expect, test } from 'vitest'
import { ownGroups } from './cgroup-paths.ts'

const mount = (root: string, point: string, type: string, options: string) =>
  `31 23 0:28 ${root} ${point} rw,relatime shared:1 - ${type} cgroup rw,${options}`

test('version 2 alone: the own group below its mount', () => {
  const found = ownGroups(
    '0::/system.slice/agentrun.service\n',
    mount('/', '/sys/fs/cgroup', 'cgroup2', 'nsdelegate'),
  )
  expect(found).toEqual({ v2: '/sys/fs/cgroup/system.slice/agentrun.service', v1: new Map() })
})

test('version 1: a folder for each controller, several of which may share a mount', () => {
  const cgroup = '8:pids:/\n4:memory:/service/one\n2:cpu,cpuacct:/half\n1:name=systemd:/init\n0::/\n'
  const mounts = [
    mount('/', '/sys/fs/cgroup/memory', 'cgroup', 'memory'),
    mount('/', '/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'cpu,cpuacct'),
    mount('/', '/sys/fs/cgroup/unified', 'cgroup2', ''),
  ]
  const { v2, v1 } = ownGroups(cgroup, mounts.join('\n'))
  expect(v2).toBe('/sys/fs/cgroup/unified')
  expect(Object.fromEntries(v1)).toEqual({
    memory: '/sys/fs/cgroup/memory/service/one',
    cpu: '/sys/fs/cgroup/cpu,cpuacct/half',
    cpuacct: '/sys/fs/cgroup/cpu,cpuacct/half',
  })
})

test('in a container the mount begins at the own group, whose path is the one outside', () => {
  const own = '/docker/4f2a'
  const found = ownGroups(
    `4:memory:${own}\n3:cpu:/elsewhere\n`,
    `${mount(own, '/sys/fs/cgroup/memory', 'cgroup', 'memory')}\n${mount(own, '/c', 'cgroup', 'cpu')}`,
  )
  expect(Object.fromEntries(found.v1)).toEqual({ memory: '/sys/fs/cgroup/memory' })
})

test('an unmounted controller, or a missing group, is absent; blanks in a path are read', () => {
  expect(ownGroups('0::/x\n4:memory:/y\n', '')).toEqual({ v2: null, v1: new Map() })
  expect(ownGroups('', '')).toEqual({ v2: null, v1: new Map() })
  expect(ownGroups('0::/a b\n', mount('/', '/my\\040groups', 'cgroup2', '')).v2).toBe('/my groups/a b')
})
