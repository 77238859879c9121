import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ensureSystemUsers } from '../../src/system/users.ts'
import { root } from '../system/small-clone.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const systemd = '/lib/systemd/systemd'

/** A control group of its own, whose processes are those of the container. */
const group = `$(sed -n 's/^0:://p' /proc/self/cgroup)/unit-test-${process.pid}`
const mount_groups = `mount -t tmpfs tmpfs /run && mkdir /run/groups && mount -t cgroup2 cgroup2 /run/groups && group="/run/groups${group}"`
const canMountGroups = () =>
  spawnSync('unshare', ['--mount', 'bash', '--norc', '-c', mount_groups]).status === 0
/** Root alone can start a systemd, and only where a container may have control groups of version 2. */
const can_start = process.getuid?.() === 0 && existsSync(systemd) && canMountGroups()
/**
 * Makes systemd the first process of a container, with the units of the folder at /mnt. What both may write
 * is in memory.
 */
const container_script = `
set -e
mount -t tmpfs tmpfs /run
for path in /tmp /var/tmp /var/lib; do mount -t tmpfs tmpfs $path; done
mount --bind /etc /etc && mount -o remount,bind,ro /etc
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/systemd/system
cp -r /mnt/units/. /run/systemd/system
exec env -i container=test ${systemd} --system --unit=test.target --log-target=console --show-status=no`
const start_script = `set -e; mount --bind "$FOLDER" /mnt; mount --bind "$CLONE" /mnt/clone; mount --bind "$NODE" /mnt/node; ${mount_groups}; mkdir "$group"; echo 0 >"$group/cgroup.procs"
exec unshare --cgroup --mount --pid --fork --kill-child --mount-proc --uts --ipc bash --norc -c '${container_script}'`
const remove_script = `${mount_groups}; for n in $(seq 100); do find "$group" -depth -type d -exec rmdir {} + && exit; sleep 0.1; done; exit 1`

/**
 * The unit with the service of this clone, wherever that is, and nothing that has to be started before it.
 */
function writeUnits(folder: string, environment: string): { output: string } {
  const seen = '/mnt'
  const output = join(folder, 'output')
  const units = join(folder, 'units')
  mkdirSync(join(units, 'agentrun.service.d'), { recursive: true })
  writeFileSync(join(folder, 'agentrun.env'), environment)
  writeFileSync(join(units, 'agentrun.service'), readFileSync(join(root, 'deploy/systemd/agentrun.service')))
  writeFileSync(join(units, 'test.target'), '[Unit]\nDefaultDependencies=no\nRequires=agentrun.service\n')
  for (const name of ['clone', 'node']) mkdirSync(join(folder, name))
  const program = `${seen}/node/${basename(process.execPath)} ${seen}/clone/src/main.ts`
  writeFileSync(
    join(units, 'agentrun.service.d/test.conf'),
    `[Unit]\nDefaultDependencies=no\nAfter=\nWants=
[Service]\nEnvironmentFile=\nEnvironmentFile=${seen}/agentrun.env\nExecStart=\nExecStart=${program}\nRestart=no
StandardOutput=append:${seen}/output\nStandardError=append:${seen}/output\n`,
  )
  return { output }
}

test.skipIf(!can_start)(
  'under its unit, as systemd confines it, the service starts with its own database, and a run completes in its sandbox',
  async () => {
    using folder = temporaryFolder()
    ensureSystemUsers()
    const token = randomBytes(20).toString('hex')
    const variables = {
      PATH: process.env.PATH,
      AGENTRUN_PORT: '0',
      AGENTRUN_DATA_DIR: '/var/lib/agentrun',
      AGENTRUN_INIT_TOKEN: token,
    }
    const { output } = writeUnits(
      folder.path,
      Object.entries(variables)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
    const container = spawn('unshare', ['--mount', 'bash', '--norc', '-c', start_script], {
      env: { PATH: process.env.PATH, FOLDER: folder.path, CLONE: root, NODE: dirname(process.execPath) },
      stdio: 'ignore',
    })
    const ended = once(container, 'exit')
    try {
      const printed = () => (existsSync(output) ? readFileSync(output, 'utf8') : '')
      const address = await poll(() => /is ready: +(http:\S+)/.exec(printed())?.[1], printed)
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const request = async (path: string, init: RequestInit = {}) =>
        (await fetch(`${address}${path}`, { headers, ...init })).json()
      expect(await request('/readyz')).toMatchObject({
        workers: 'ready',
        workers_reason: null,
        sandbox: 'bubblewrap',
      })
      const prompt =
        'Play.\n\n```playbook\n- run: hostname; date >now.txt; git add now.txt\n- answer: Done.\n```'
      const { id } = (await request('/v1/organizations/1/agent/run', {
        method: 'POST',
        body: JSON.stringify({ prompt }),
      })) as {
        id: number
      }
      const run = await poll(async () => {
        const read = (await request(`/v1/organizations/1/agent/run/${id}`)) as { terminal: boolean }
        return read.terminal ? read : undefined
      }, printed)
      expect(run).toMatchObject({ status: 'completed', result: 'Done.' })
    } finally {
      container.kill('SIGKILL')
      await ended
      execFileSync('unshare', ['--mount', 'bash', '--norc', '-c', remove_script], { stdio: 'ignore' })
    }
  },
  120_000,
)

/** Polls a container that reports nothing; fails with what its service printed. */
async function poll<T>(
  read: () => Promise<T | undefined> | T | undefined,
  printed: () => string,
): Promise<T> {
  for (let tries = 0; tries < 240; tries++) {
    const value = await read()
    if (value !== undefined) return value
    await setTimeout(250)
  }
  throw new Error(`not within a minute: ${printed()}`)
}
