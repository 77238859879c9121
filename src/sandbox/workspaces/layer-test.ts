import { chmodSync, lchownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SystemUser } from '../../system/users.ts'
import {
  type LayerDriver,
  type Sandbox,
  SandboxError,
  type SandboxLimits,
  type SandboxSpec,
} from '../port.ts'
import { removeWorkspace } from './workspaces.ts'

const limits: SandboxLimits = {
  max_memory_bytes: 256 * 2 ** 20,
  cpus: 1,
  max_processes: 32,
  max_disk_bytes: Number.POSITIVE_INFINITY,
  max_files: Number.POSITIVE_INFINITY,
  max_file_bytes: 2 ** 20,
  max_tmp_bytes: 2 ** 20,
  max_process_bytes: 2 ** 30,
}

/** What a copy must support: a recreated folder hides its old content, and a second mount sees the same. */
const CHANGE =
  'set -e; cat kept gone/file; rm -r gone; mkdir gone; echo more >>kept; mv kept moved; chmod 700 gone'
const PROBE = 'set -e; cat moved; ls -A . gone; [ "$(stat -c %u%U moved)" = 1000agent ]'
const SEEN = 'one\nmore\n.:\ngone\nmoved\n\ngone:\n'

/**
 * Mounts a real layer below `folder`, changes it in a sandbox and reads it in another one, twice. Never
 * throws.
 */
export async function proveLayers(
  folder: string,
  user: SystemUser | null,
  start: (spec: SandboxSpec) => Promise<Sandbox>,
  open: LayerDriver['open'],
): Promise<{ ok: true } | { ok: false; reason: string }> {
  let test_folder: string | undefined
  const own = (name: string) => join(test_folder ?? '', name)
  try {
    test_folder = mkdtempSync(join(folder, 'new-test-'))
    chmodSync(test_folder, 0o711)
    createBase(test_folder, user)
    await inLayer(CHANGE, 'one\ntwo\n')
    await inLayer(PROBE, SEEN)
    return { ok: true }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) }
  } finally {
    if (test_folder !== undefined) {
      for (const name of ['base', 'layer', 'shadow']) await removeWorkspace(own(name), user).catch(() => {})
      await rm(test_folder, { recursive: true, force: true }).catch(() => {})
    }
  }

  async function inLayer(command: string, wanted: string) {
    await using layer = await open([{ folder: own('layer'), base: own('base') }])
    await using sandbox = await start({ workspace: own('layer'), within: layer, read_only: [], limits })
    await using sibling = await start({
      workspace: own('shadow'),
      within: layer,
      limits,
      read_only: [{ host: own('layer'), inside: '/files' }],
    })
    const change_output = await run(sandbox, command)
    const seen = await run(sibling, `cd /files; ${PROBE}`)
    if (change_output !== wanted || seen !== SEEN)
      throw new SandboxError(
        `an overlay does not show what it should: ${(change_output + seen).slice(0, 300)}`,
      )
  }
}

function createBase(test_folder: string, user: SystemUser | null): void {
  const folders = ['base', 'layer', 'shadow', 'base/gone'].map(name => join(test_folder, name))
  for (const path of folders) mkdirSync(path)
  const files = { kept: 'one\n', 'gone/file': 'two\n' }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(test_folder, 'base', name), text)
  // The innermost first: the content of a folder is handed over before the folder, so that its new owner
  // cannot create links in it.
  const inside_out = [
    ...Object.keys(files).map(name => join(test_folder, 'base', name)),
    ...folders.toReversed(),
  ]
  if (user) for (const path of inside_out) lchownSync(path, user.uid, user.gid)
}

async function run(sandbox: Sandbox, command: string): Promise<string> {
  const { output } = await sandbox.exec({
    command,
    shell: 'separate',
    timeout_ms: 5_000,
    max_output_bytes: 4_096,
  })
  return Buffer.from(output).toString()
}
