import { chmodSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ensureDatabase } from '../src/postgres/connect.ts'
import { startEmbeddedPostgres } from '../src/postgres/embedded.ts'
import { findOrphan, stopServer } from '../src/postgres/leftover.ts'
import { migrate } from '../src/store/migrate.ts'
import { isAlive } from '../src/system/processes.ts'
import { ensureSystemUsers } from '../src/system/users.ts'
import { memory_root, memoryFolder } from './runner/memory-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Superuser's connection string of the one PostgreSQL of this test run; `test/database.ts` makes
     * databases in it.
     */
    admin_url: string
    /**
     * A folder that other users may read, removed at the end of this test run; `test/temporary-folder.ts`
     * makes folders in it.
     */
    folder: string
  }
}

/** The migrated database that each test database is a copy of. */
export const template_name = 'agentrun_template'

const prefix = 'agentrun-test-'

/**
 * One real PostgreSQL for the whole run, in a temporary folder that goes with it; in memory if there is
 * space: each test file has a database made, which is hundreds of files, and some file systems take a third
 * of a second for those.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeKilledRuns()
  const folder = mkdtempSync(join(memoryFolder() ?? tmpdir(), `${prefix}${process.pid}-`))
  chmodSync(folder, 0o711)
  const files = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  chmodSync(files, 0o755)
  const { database } = ensureSystemUsers()
  const postgres = await startEmbeddedPostgres({
    data_dir: join(folder, 'postgres'),
    user: database,
    log: () => {},
    durable: false,
  })
  const stop = async () => {
    await postgres.stop()
    for (const made of [folder, files]) rmSync(made, { recursive: true, force: true })
  }
  try {
    await makeTemplate(postgres.url)
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('admin_url', postgres.url)
  project.provide('folder', files)
  return stop
}

/**
 * Ends and removes the remains of killed test runs: the folder's name contains the id of the process that
 * created it.
 */
async function removeKilledRuns(): Promise<void> {
  for (const location of [tmpdir(), memory_root].filter(location => existsSync(location)))
    for (const name of readdirSync(location)) {
      const [, pid] = /^agentrun-test-(\d+)-/.exec(name) ?? []
      if (!pid || isAlive(Number(pid))) continue
      const folder = join(location, name)
      const orphan = findOrphan(join(realpathSync(folder), 'postgres/cluster'))
      if (orphan) await stopServer(orphan.pid)
      rmSync(folder, { recursive: true, force: true })
    }
}

async function makeTemplate(admin_url: string): Promise<void> {
  const template = new URL(admin_url)
  template.pathname = `/${template_name}`
  await ensureDatabase(template.href)
  await migrate(template.href)
}
