import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import {
  discardTemplate,
  draftTemplate,
  sweepTemplates,
  type TemplateFolders,
  templatePath,
  touchTemplate,
} from '../../src/sandbox/workspaces/templates.ts'
import { createWorkspace } from '../../src/sandbox/workspaces/workspaces.ts'
import { makeDriver, sandbox_user } from './start-sandbox.ts'

const made = makeDriver()
afterAll(() => made[Symbol.asyncDispose]())

let folders: TemplateFolders
let round = 0
beforeEach(() => {
  const folder = join(made.folder, `round-${++round}`)
  folders = { root: join(folder, 'templates'), workspaces: join(folder, 'workspaces'), user: sandbox_user }
  for (const path of [folder, folders.root, folders.workspaces]) mkdirSync(path, { mode: 0o711 })
})

const name = (n: number) => `${n}-${String(n).repeat(40)}`
const all = async () => () => true
const none = async () => () => false

/** A template of some megabytes that was last used this number of minutes ago. */
async function make(n: number, minutes: number): Promise<void> {
  await using draft = draftTemplate(folders, 'commit')
  writeFileSync(join(draft.tree, 'file'), Buffer.alloc(4 * 2 ** 20))
  draft.publish(name(n))
  const used_at = new Date(Date.now() - minutes * 60_000)
  utimesSync(join(folders.root, name(n)), used_at, used_at)
}

it('is found when it is complete, and the first one that was created stays', async () => {
  {
    await using draft = draftTemplate(folders, 'commit')
    writeFileSync(join(draft.tree, 'file'), 'one')
    expect(touchTemplate(folders, name(1))).toBe(false)
    await using late = draftTemplate(folders, 'commit')
    draft.publish(name(1))
    late.publish(name(1))
  }
  expect([
    touchTemplate(folders, name(1)),
    readdirSync(templatePath(folders, name(1))),
    readdirSync(folders.root),
  ]).toEqual([true, ['file'], [name(1)]])
})

it('goes when there is too much, the longest unused first, but never from under a workspace', async () => {
  await make(1, 40)
  await make(2, 30)
  await make(3, 20)
  await make(4, 10)
  touchTemplate(folders, name(2))
  await createWorkspace(folders.workspaces, 7, 1, sandbox_user, name(1))
  await sweepTemplates(folders, 'commit', 16 * 2 ** 20 + 100_000, all)
  expect(readdirSync(folders.root).sort()).toEqual([1, 2, 3, 4].map(name))
  await sweepTemplates(folders, 'commit', 9 * 2 ** 20, all)
  expect(readdirSync(folders.root).sort()).toEqual([1, 2].map(name))
  await sweepTemplates(folders, 'commit', 16 * 2 ** 20, none)
  expect(readdirSync(folders.root)).toEqual([name(1)])
})

it('one that was published while a sweep collects the used ones stays: it could not be in that list yet', async () => {
  await make(1, 0)
  const gone = await sweepTemplates(folders, 'commit', 1e9, async () => {
    await make(2, 0)
    return () => false
  })
  expect([gone, readdirSync(folders.root)]).toEqual([[name(1)], [name(2)]])
})

it('kill -9 during the creation of one leaves nothing that is found, and the next sweep removes it; one that is being created stays', async () => {
  const program = `
    import { writeFileSync } from 'node:fs'
    const { draftTemplate } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/sandbox/workspaces/templates.ts'))})
    const draft = draftTemplate(${JSON.stringify(folders)})
    writeFileSync(draft.tree + '/file', 'half')
    process.stdout.write('made')
    setInterval(() => {}, 1000)`
  const maker = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(maker.stdout, 'data')
  await sweepTemplates(folders, 'commit', 0, none)
  expect(readdirSync(folders.root)).toEqual([expect.stringMatching(/^new-/)])
  maker.kill('SIGKILL')
  await once(maker, 'exit')
  await using own = draftTemplate(folders, 'commit')
  await sweepTemplates(folders, 'commit', 1e9, all)
  expect(readdirSync(folders.root).map(draft => own.tree.includes(draft))).toEqual([true])
})

it('one that is damaged is no longer found, and another can take its name', async () => {
  await make(1, 0)
  discardTemplate(folders, name(1))
  discardTemplate(folders, name(1))
  expect(touchTemplate(folders, name(1))).toBe(false)
  await make(1, 0)
  expect(touchTemplate(folders, name(1))).toBe(true)
})
