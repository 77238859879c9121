import { rebuildConversation } from '../../agent/conversation.ts'
import type { FoundSetupCommands } from '../../contract/repositories/setup-commands.ts'
import { provedSetupDigest } from '../../core/repositories/proved-setup.ts'
import { listTree, type TreeList } from '../../git/read/list-tree.ts'
import { readFilesAt } from '../../git/read/read-files.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { pathsToRead } from '../../setup-detection/files.ts'
import { plainLines } from '../../setup-detection/plain-lines.ts'
import type { Found } from '../../setup-detection/plan.ts'
import type { Proposal, Tool, Toolchain } from '../../setup-detection/proposal.ts'
import { propose } from '../../setup-detection/propose.ts'
import { findSetup } from '../../setup-detection/search.ts'
import { missingTools, parseProbe, probeCommand, tooOldText, versionsCommand, withVersions } from '../../setup-detection/toolchain.ts'
import type { Tree } from '../../setup-detection/tree.ts'
import { getSetupCommands } from '../../store/workspaces/setup-commands.ts'
import { recordWorkspace } from '../../store/workspaces/workspaces.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { type Base, prepareBase, StartError } from '../base/base.ts'
import { type CheckPlacesInput, openCheckPlaces } from '../checks/check-places.ts'
import { requireOwned } from '../claim/fencing.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import type { WorkerDeps } from '../settings.ts'
import { saveFound } from '../setup/save-found-setup.ts'
import { askOfRun } from './ask-of-run.ts'
import { endOfControl } from './end-of.ts'
import type { End } from './end-turn.ts'
import { deliverMessages } from './loop-journal.ts'
import { readJournal, recordRecovery } from './recovered-conversation.ts'
import { createSetupRunner } from './setup-runner.ts'
import type { TurnOf } from './turn.ts'

const MOST = { files: 20_000, file_bytes: 64 * 1024, evidence: 60, shown: 40 }
const PROBE = { timeout_ms: 60_000, max_output_bytes: 32 * 1024, shell: 'separate' as const }

/**
 * Finds out how a repository is set up and proves it: nothing of it is an agent's. Whoever goes on after a crash begins anew, because a
 * sandbox that was left in the middle proves nothing. Rejects with what ends the turn otherwise.
 */
export async function setupTurn(of: TurnOf): Promise<End> {
  const { deps, writer, live, run, control } = of
  const began = performance.now()
  if (run.sandbox !== null) await deps.driver.end(run.sandbox)
  const secrets = await openRunSecrets(deps, writer, run)
  const base = await prepareBase(deps, writer, run, control.signal)
  if (control.signal.aborted) return endOfControl(control)
  if (base === null) throw new StartError('setup_failed', 'no_repository', 'There is no repository to set up.', 'setup')
  await deliverMessages(writer)
  if (run.recovering_since !== null) await recordRecovery(writer, run, rebuildConversation(await readJournal(writer), run.turn))
  if (run.status === 'starting' && !(await writer.move({ from: ['starting'], to: 'starting', phase: 'setup' })))
    return endOfControl(control)

  const started = async (sandbox: string | null) => {
    const place = { workspace: null, folder_id: deps.folder_id, sandbox }
    requireOwned(await recordWorkspace(deps.db, run.organization_id, run.id, writer.epoch, place))
  }
  const places: Omit<CheckPlacesInput, 'setup' | 'head_sha'> = { deps, writer, live, run, base, secrets, started, signal: control.signal }
  const { tree, list } = await readTree(deps, base)
  const { proposal, toolchain, missing } = await proposeFor(places, tree)
  const { total_logs } = await writer.append({
    entries: [proposalEntry(base.sha, list, proposal, toolchain, missing, performance.now() - began)],
  })

  const variables = JSON.parse((await getSetupCommands(deps.db, run.organization_id, base.repository.id))?.variables ?? '{}')
  const known = { files: tree.files, paths: tree.paths, toolchain }
  const stay = () => {
    if (control.leaving) control.end({ kind: 'shutdown' })
    control.signal.throwIfAborted()
  }
  const runner = createSetupRunner({ ...places, variables, known, ask: askOfRun(of, secrets), stay, until: began + deps.setup_ms })
  const found = await findSetup(proposal, missing, runner, tooOldText(proposal.tools, toolchain))
  if (control.signal.aborted) return endOfControl(control)
  if (run.status === 'starting' && !(await writer.move({ from: ['starting'], to: 'running', phase: 'agent' }))) return endOfControl(control)

  const commands = found.plan.commands.map(({ command }) => command)
  // What a model has proposed a person looks at first: it may be what somebody has put into its mouth.
  const saved = found.verified && !found.partial && !found.plan.by_model && (await saveFound(deps, writer, run, commands))
  const seen = {
    seq: total_logs,
    what: 'proposal' as const,
    ok: missing.length === 0,
    command: '',
    from: '',
    text: proposal.ecosystems.join(', '),
  }
  const result: FoundSetupCommands = {
    ...{ commands, verified: found.verified, saved, reason: found.reason, detail: found.detail },
    evidence: [seen, ...found.evidence.slice(-MOST.evidence)],
    timings: { ...found.timings, total_ms: Math.round(performance.now() - began) },
    environment_digest: digestOf(commands, variables, proposal, list, toolchain),
  }
  return { kind: 'completed', text: JSON.stringify(await writer.redactor.value(result)), thought: thoughtOf(found) }
}

async function readTree(deps: WorkerDeps, base: Base): Promise<{ tree: Tree; list: TreeList }> {
  const list = await listTree(deps.git, base.repository.id, base.sha, MOST.files)
  const paths = [...list.files.keys()]
  const read = await readFilesAt(deps.git, base.repository.id, base.sha, pathsToRead(paths), MOST.file_bytes)
  const decoder = new TextDecoder('utf-8', { fatal: false })
  return { tree: { paths, files: new Map([...read].map(([path, { bytes }]) => [path, plainLines(decoder.decode(bytes))])) }, list }
}

/** What the rules propose, for the programs that a sandbox shows. */
async function proposeFor(places: Omit<CheckPlacesInput, 'setup' | 'head_sha'>, tree: Tree) {
  await using clean = await openCheckPlaces({ ...places, setup: null, head_sha: places.base.sha })
  return clean.within(async (sandbox: Sandbox) => {
    const ask = async (command: string) =>
      Buffer.from((await sandbox.exec({ command, ...PROBE, signal: places.signal })).output).toString('utf8')
    const there = parseProbe(await ask(probeCommand()))
    const proposal = propose(tree, there)
    const toolchain = withVersions(there, await ask(versionsCommand(proposal.tools, there)))
    return { proposal, toolchain, missing: missingTools(proposal, toolchain) }
  })
}

function proposalEntry(sha: string, list: TreeList, proposal: Proposal, toolchain: Toolchain, missing: Tool[], duration_ms: number) {
  const { ecosystems, commands, to_prove, tools, lockfiles, notes } = proposal
  const wanted = tools.map(({ binary, wanted, from }) => ({ binary, wanted, from, found: toolchain.get(binary) ?? null }))
  const said = {
    ...{ status: 'ok', ecosystems, lockfiles: lockfiles.slice(0, MOST.shown), notes: notes.slice(0, MOST.shown) },
    commands: commands.map(({ command, from, why }) => ({ command, from, why })),
    proofs: to_prove
      .flatMap(({ proofs }) => proofs.map(({ command, kind, from, why }) => ({ command, kind, from, why })))
      .slice(0, MOST.shown),
    ...{ toolchain: wanted, missing: missing.map(({ binary, package: name }) => ({ binary, debian_package: name })) },
  }
  return serviceAction(
    'setup_proposal',
    { sha, files: list.files.size, ...(list.truncated && { files_truncated: true }) },
    said,
    duration_ms,
  )
}

function digestOf(
  commands: string[],
  variables: Record<string, string>,
  proposal: Proposal,
  { files }: TreeList,
  toolchain: Toolchain,
): string {
  const lockfiles = Object.fromEntries(proposal.lockfiles.map(path => [path, files.get(path) ?? '']))
  const versions = Object.fromEntries(proposal.tools.map(({ binary }) => [binary, toolchain.get(binary) ?? '']))
  return provedSetupDigest({ commands, variables, lockfiles, toolchain: versions })
}

const thoughtOf = ({ verified, reason, detail }: Found) => (verified ? detail : `Not proved (${reason}): ${detail}`)
