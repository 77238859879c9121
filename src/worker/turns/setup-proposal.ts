import { actionTool } from '../../contract/runs/action-tools.ts'
import { provedSetupDigest } from '../../core/repositories/proved-setup.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { listTree, type TreeList } from '../../git/read/list-tree.ts'
import { readFilesAt } from '../../git/read/read-files.ts'
import { pathsToRead } from '../../setup-detection/files.ts'
import { plainLines } from '../../setup-detection/plain-lines.ts'
import type { Proposal, Tool, Toolchain } from '../../setup-detection/proposal.ts'
import {
  missingTools,
  parseProbe,
  probeCommand,
  versionsCommand,
  withVersions,
} from '../../setup-detection/toolchain.ts'
import type { Tree } from '../../setup-detection/tree.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { Base } from '../base/base.ts'
import { type CheckSandboxesInput, openCheckSandboxes } from '../checks/check-sandboxes.ts'
import { proposeOnThread } from '../setup/propose-on-thread.ts'

export type ProposalInput = Omit<CheckSandboxesInput, 'setup' | 'head_sha'>

/** What the rules propose for the files of a commit and the programs of a sandbox. */
export type ProposedSetup = {
  tree: Tree
  list: TreeList
  proposal: Proposal
  toolchain: Toolchain
  missing: Tool[]
}

const MAX = { files: 20_000, file_bytes: 64 * 1024, shown: 40 }
const PROBE = { timeout_ms: 60_000, max_output_bytes: 32 * 1024, shell: 'separate' as const }

/**
 * Returns the setup commands that rules detect in the repository, with the programs that a clean sandbox has
 * and those that it lacks. Throws SandboxError, and GitError when the commit cannot be read.
 */
export async function proposeSetup(input: ProposalInput): Promise<ProposedSetup> {
  const { tree, list } = await readTree(input.deps.git, input.base)
  await using sandboxes = await openCheckSandboxes({ ...input, setup: null, head_sha: input.base.sha })
  return sandboxes.inClean(async sandbox => {
    const run = async (command: string) =>
      Buffer.from((await sandbox.exec({ command, ...PROBE, signal: input.signal })).output).toString('utf8')
    const programs = parseProbe(await run(probeCommand()))
    const { organization_id } = input.run
    const how = { organization_id, log: input.deps.log, signal: input.signal }
    const proposal = await proposeOnThread({ tree, toolchain: programs }, how)
    const toolchain = withVersions(programs, await run(versionsCommand(proposal.tools, programs)))
    return { tree, list, proposal, toolchain, missing: missingTools(proposal, toolchain) }
  })
}

async function readTree(git: GitHost, base: Base): Promise<Pick<ProposedSetup, 'tree' | 'list'>> {
  const list = await listTree(git, base.repository.id, base.sha, MAX.files)
  const paths = [...list.files.keys()]
  const read = await readFilesAt(git, base.repository.id, base.sha, pathsToRead(paths), MAX.file_bytes)
  const decoder = new TextDecoder('utf-8', { fatal: false })
  return {
    tree: {
      paths,
      files: new Map([...read].map(([path, { bytes }]) => [path, plainLines(decoder.decode(bytes))])),
    },
    list,
  }
}

/** Returns the entry of the trace that shows a proposal: lists are cut to a bounded length. */
export function proposalEntry(
  sha: string,
  { list, proposal, toolchain, missing }: ProposedSetup,
  duration_ms: number,
) {
  const { ecosystems, commands, to_prove, tools, lockfiles, notes } = proposal
  const wanted = tools.map(({ binary, wanted, from }) => ({
    binary,
    wanted,
    from,
    found: toolchain.get(binary) ?? null,
  }))
  const output = {
    status: 'ok',
    ecosystems,
    lockfiles: lockfiles.slice(0, MAX.shown),
    notes: notes.slice(0, MAX.shown),
    commands: commands.map(({ command, from, why }) => ({ command, from, why })),
    proofs: to_prove
      .flatMap(({ proofs }) => proofs.map(({ command, kind, from, why }) => ({ command, kind, from, why })))
      .slice(0, MAX.shown),
    toolchain: wanted,
    missing: missing.map(({ binary, package: name }) => ({ binary, debian_package: name })),
  }
  const input = { sha, files: list.files.size, ...(list.truncated && { files_truncated: true }) }
  return serviceAction(actionTool.setup_proposal, input, output, duration_ms)
}

export function digestOf(
  commands: string[],
  variables: Record<string, string>,
  { list, proposal, toolchain }: ProposedSetup,
): string {
  const lockfiles = Object.fromEntries(proposal.lockfiles.map(path => [path, list.files.get(path) ?? '']))
  const versions = Object.fromEntries(
    proposal.tools.map(({ binary }) => [binary, toolchain.get(binary) ?? '']),
  )
  return provedSetupDigest({ commands, variables, lockfiles, toolchain: versions })
}
