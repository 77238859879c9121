import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../empty-database.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { program_env } from './program-env.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** Mounts and networks of a test need root. */
const no_root = process.getuid?.() !== 0

/** As in containers of Docker, which permit all ports to all users. */
const every_port = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8')) <= 1

/** Runs a script in namespaces of its own, in which `$0 $1` starts the service. */
async function inNamespace(
  kind: '--mount' | '--net',
  script: string,
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn('unshare', [kind, 'bash', '-c', script, process.execPath, main], {
    env: { ...program_env, AGENTRUN_PORT: '0', AGENTRUN_WORKER_CONCURRENCY: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, output: out + err }
}

test.skipIf(no_root)(
  'a data folder on a read-only file system is refused with what to do, when it is empty and when it was used',
  async () => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    mkdirSync(data)
    const refusal = `cannot start: cannot use ${data} as data folder (EROFS): set AGENTRUN_DATA_DIR to a folder that this user may write`
    const read_only = `mount -t tmpfs -o ro,mode=711 tmpfs ${data} && exec "$0" "$1"`
    expect(await inNamespace('--mount', read_only, { AGENTRUN_DATA_DIR: data })).toMatchObject({
      code: 1,
      output: expect.stringContaining(refusal),
    })

    await using database = await emptyDatabase()
    const used = await startServiceProcess({ AGENTRUN_DATA_DIR: data, DATABASE_URL: database.url })
    used.child.kill('SIGTERM')
    expect((await used.ended).code).toBe(0)
    const again = `mount --bind ${data} ${data} && mount -o remount,ro,bind ${data} && exec "$0" "$1"`
    const { code, output } = await inNamespace('--mount', again, {
      AGENTRUN_DATA_DIR: data,
      DATABASE_URL: database.url,
    })
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(refusal) })
  },
  60_000,
)

test.skipIf(no_root)(
  'a full disk is reported with what to do, at the first start and when the data folder is in use',
  async () => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    mkdirSync(data)
    const refusal =
      /^cannot start: the disk is full \(.*\): free space on the disk of the data folder[^\n]*$/m
    // No file more, and no room for the database.
    for (const limit of ['nr_inodes=3', 'size=1m']) {
      const full = `mount -t tmpfs -o ${limit},mode=711 tmpfs ${data} && exec "$0" "$1"`
      const { code, output } = await inNamespace('--mount', full, { AGENTRUN_DATA_DIR: data })
      expect({ code, output }).toMatchObject({ code: 1, output: expect.stringMatching(refusal) })
    }

    await using database = await emptyDatabase()
    const filled = `mount -t tmpfs -o size=32m,mode=711 tmpfs ${data}
      "$0" "$1" migrate && cat /dev/zero >${data}/postgres/filler; exec "$0" "$1"`
    const { code, output } = await inNamespace('--mount', filled, {
      AGENTRUN_DATA_DIR: data,
      DATABASE_URL: database.url,
    })
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringMatching(refusal) })
  },
  60_000,
)

test('a port in use is refused with what to do, that of the API and that of the metrics', async () => {
  using folder = temporaryFolder()
  await using database = await emptyDatabase()
  await using other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? String(address.port) : ''
  for (const name of ['AGENTRUN_PORT', 'AGENTRUN_METRICS_PORT']) {
    const env = { AGENTRUN_DATA_DIR: join(folder.path, name), DATABASE_URL: database.url, [name]: port }
    const { ended } = await startServiceProcess(env)
    const host = name.replace('PORT', 'HOST')
    const refusal = `cannot start: ${host} 127.0.0.1, ${name} ${port}: another program uses this port (EADDRINUSE): end it, or set ${name} to another port`
    expect(await ended).toMatchObject({ code: 1, output: expect.stringContaining(refusal) })
  }
}, 60_000)

test.skipIf(no_root)(
  'on a machine with IPv6 alone it serves on ::1, and the default address is refused with what to do',
  async () => {
    using folder = temporaryFolder()
    const lonely = 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo &&'
    const env = { AGENTRUN_DATA_DIR: join(folder.path, 'data') }
    const refused = await inNamespace('--net', `${lonely} exec "$0" "$1"`, env)
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('set AGENTRUN_HOST to one of its own, ::1 or :: with IPv6 alone'),
    })

    // The service, a request to it, and its end, in one namespace.
    const script = `${lonely} {
    coproc "$0" "$1" 2>&1; while read -r -u "\${COPROC[0]}" line; do
      url=$(grep -o 'http://\\[::1\\]:[0-9]*' <<<"$line" | head -n 1); [[ $url ]] && break
    done
    "$0" --input-type=module -e "process.stdout.write(await (await fetch('$url/readyz')).text())"
    kill -TERM "$COPROC_PID"; cat <&"\${COPROC[0]}" >&2; wait "$COPROC_PID"
  }`
    const served = await inNamespace('--net', script, { ...env, AGENTRUN_HOST: '::1' })
    expect(served).toMatchObject({ output: expect.stringContaining('"status":"ready"') })
  },
  60_000,
)

test.skipIf(no_root || every_port)(
  'a port below 1024 of a user who may not use it is refused with what to do',
  async () => {
    using folder = temporaryFolder()
    await using database = await emptyDatabase()
    const privileged = spawn(
      'setpriv',
      ['--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service', process.execPath, main],
      {
        env: {
          ...program_env,
          AGENTRUN_DATA_DIR: join(folder.path, 'data'),
          DATABASE_URL: database.url,
          AGENTRUN_PORT: '1',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const [output, [code]] = await Promise.all([text(privileged.stderr), once(privileged, 'close')])
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('set AGENTRUN_PORT to a port from 1024 on'),
    })
  },
  60_000,
)
