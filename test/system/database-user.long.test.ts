import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { removeTemporarySocketFolder } from '../../src/postgres/socket-folder.ts'
import { changeOwner } from '../../src/system/change-owner.ts'
import { isAlive } from '../../src/system/processes.ts'
import { ensureSystemUsers, type SystemUser } from '../../src/system/users.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// Unprivileged, everything is one user.
const root = process.getuid?.() === 0
const { service, database } = ensureSystemUsers()

const start = (
  data_dir: string,
  user: SystemUser | null,
  former: SystemUser | null = null,
): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ data_dir, user, former, log: () => {} })

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Every file of it with its owner. */
const owners = (path: string): Set<number> =>
  new Set(
    ['.', ...readdirSync(path, { recursive: true, encoding: 'utf8' })].map(
      name => lstatSync(join(path, name)).uid,
    ),
  )

/**
 * What versions had that ran git and PostgreSQL as one user, who owned the folder, and let everybody in who
 * reached the socket.
 */
function makeFormer(data_dir: string, user: SystemUser): void {
  for (const name of ['.', 'run']) chownSync(join(data_dir, name), user.uid, user.gid)
  chmodSync(data_dir, 0o700)
  for (const name of ['access.conf', 'access-names.conf']) spawnSync('rm', [join(data_dir, name)])
  writeFileSync(join(data_dir, 'cluster/pg_hba.conf'), 'local all all trust\n')
}

test.runIf(root)(
  'a database of a version in which git had the same user keeps its rows and becomes the database user’s',
  async () => {
    if (!service || !database) throw new Error('root has both users')
    using folder = temporaryFolder()
    const data_dir = join(folder.path, 'postgres')
    {
      await using first = await start(data_dir, service)
      await query(first.url, "create table kept as select 'before' as value")
    }
    makeFormer(data_dir, service)
    expect(owners(join(data_dir, 'cluster'))).toEqual(new Set([service.uid]))
    {
      await using next = await start(data_dir, database, service)
      expect(await query(next.url, 'select value from kept')).toEqual([{ value: 'before' }])
      expect(lstatSync(`/proc/${next.pid}`).uid).toBe(database.uid)
    }
    expect(owners(join(data_dir, 'cluster'))).toEqual(new Set([database.uid]))
    expect([lstatSync(data_dir).uid, lstatSync(data_dir).mode & 0o777]).toEqual([0, 0o711])
  },
)

test.runIf(root)(
  'a server that a killed service of such a version left running is ended, not adopted',
  async () => {
    if (!service || !database) throw new Error('root has both users')
    using folder = temporaryFolder()
    const data_dir = join(folder.path, 'postgres')
    const left = await start(data_dir, service)
    await query(left.url, 'create table kept as select 1 as value')
    await using next = await start(data_dir, database, service)
    expect(isAlive(left.pid) && left.pid === next.pid).toBe(false)
    expect(await query(next.url, 'select value from kept')).toEqual([{ value: 1 }])
    expect(lstatSync(`/proc/${next.pid}`).uid).toBe(database.uid)
    await left.stop()
  },
)

test.runIf(root)(
  'no other user of the machine is let into the database, even one that reaches its socket',
  async () => {
    if (!service || !database) throw new Error('root has both users')
    using folder = temporaryFolder()
    const data_dir = join(folder.path, 'postgres')
    await using postgres = await start(data_dir, database)
    const run = join(data_dir, 'run')
    const script = `
    const { default: pg } = await import(process.argv[1])
    const client = new pg.Client({ connectionString: process.argv[2] })
    await client.connect().then(() => console.log('connected'), error => console.log(error.message || error.code))
    process.exit()`
    const modules = import.meta.resolve('pg')
    const connectAs = ({ uid, gid }: { uid: number; gid: number }) => {
      // The program is reached by its descriptor's path: the user may have no way into the clone, so the
      // module is loaded before it changes.
      const as_user = `process.setgroups([]); process.setgid(${gid}); process.setuid(${uid});`
      const [load = '', ...rest] = script.trim().split('\n')
      const program = [load, as_user, ...rest].join('\n')
      return spawnSync(process.execPath, ['--input-type=module', '-e', program, modules, postgres.url], {
        encoding: 'utf8',
      }).stdout.trim()
    }
    expect(connectAs(service)).toMatch(/EACCES/)
    for (const path of [run, join(run, '.s.PGSQL.5432')]) chmodSync(path, 0o777)
    expect(connectAs(service)).toMatch(/Peer authentication failed/)
    // Nor may the server's own user: what it runs is not the service.
    expect(connectAs(database)).toMatch(/Peer authentication failed/)
    expect(connectAs({ uid: 0, gid: 0 })).toBe('connected')
  },
)

test.runIf(root)('a change of owner does not follow links, and does not touch files of other users', () => {
  if (!service || !database) throw new Error('root has both users')
  using folder = temporaryFolder()
  const [theirs, treasure] = [join(folder.path, 'theirs'), join(folder.path, 'treasure')]
  for (const path of [theirs, join(theirs, 'inner'), treasure]) mkdirSync(path)
  for (const path of [join(treasure, 'file'), join(theirs, 'inner/file'), join(theirs, 'of-root')])
    writeFileSync(path, '')
  symlinkSync(treasure, join(theirs, 'folder'))
  symlinkSync(join(treasure, 'file'), join(theirs, 'inner/link'))
  linkSync(join(treasure, 'file'), join(theirs, 'inner/hard'))
  for (const name of ['.', 'inner', 'inner/file', 'inner/link', 'folder'])
    lchownSync(join(theirs, name), service.uid, service.gid)
  changeOwner(theirs, service.uid, database)
  const uids = ['.', 'inner', 'inner/file'].map(name => lstatSync(join(theirs, name)).uid)
  expect(uids).toEqual(Array(3).fill(database.uid))
  expect(
    [treasure, join(treasure, 'file'), join(theirs, 'of-root')].map(path => lstatSync(path).uid),
  ).toEqual([0, 0, 0])
})

test('a socket folder is removed only where the service creates one, regardless of its name', () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'kept'))
  const climbing = `${process.env.TMPDIR ?? '/tmp'}/agentrun-postgres-/../${folder.path.split('/').at(-1)}/kept`
  removeTemporarySocketFolder(climbing)
  removeTemporarySocketFolder(join(folder.path, 'kept'))
  expect(readdirSync(folder.path)).toEqual(['kept'])
})
