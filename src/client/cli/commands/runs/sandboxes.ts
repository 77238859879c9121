import type { Query, Result } from '../../../sdk/operations.ts'
import { command, whole } from '../../command.ts'
import { plainText } from '../../plain-text.ts'
import { columns, type Printer } from '../../printer.ts'
import { repositoryId } from '../../repository.ts'
import { ago } from '../../run-lines.ts'

type Sandbox = Result<'listSandboxes'>['items'][number]

export const sandboxes = command({
  name: 'sandboxes',
  summary: 'list sandboxes of runs, newest first, with the resources that they used',
  usage: [],
  words: [0, 0],
  options: {
    run: { type: 'string', value: 'ID', about: 'only those of this run' },
    repo: { type: 'string', value: 'REPO', about: 'only those of runs of this repository' },
    kind: { type: 'string', value: 'KIND', choices: ['agent', 'setup', 'check'], about: 'only those of this kind' },
    state: { type: 'string', value: 'STATE', choices: ['starting', 'running', 'ended', 'lost'], about: 'only those in this state' },
    limit: { type: 'string', value: 'N', about: 'how many, 20 by default, 100 at most' },
    skip: { type: 'string', value: 'N', about: 'leave out this many' },
  },
  async run({ values, json, print, client, signal }) {
    const query: Query<'listSandboxes'> = {
      agent_run_id: whole('--run', values.run),
      repo_id: values.repo === undefined ? undefined : await repositoryId(client(), values.repo, signal),
      kind: values.kind as Query<'listSandboxes'>['kind'],
      state: values.state as Query<'listSandboxes'>['state'],
      limit: whole('--limit', values.limit) ?? 20,
      skip: whole('--skip', values.skip),
    }
    const page = await client().call('listSandboxes', { query, signal })
    if (json) print.json(page)
    else if (page.total === 0) print.note('no sandboxes')
    else {
      for (const line of tableOf(page.items, print, Date.now())) print.line(line)
      if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total} sandboxes; --limit and --skip show others`)
    }
    return 0
  },
})

function tableOf(items: Sandbox[], print: Pick<Printer, 'style'>, now: number): string[] {
  const rows = items.map(one => [
    ...[String(one.id), String(one.agent_run_id), one.kind, plainText(one.state)],
    ...[ago(one.created_at, now), mebibytes(one.peaks.memory_bytes), mebibytes(one.peaks.disk_bytes), seconds(one.peaks.cpu_ms)],
  ])
  return columns([['ID', 'RUN', 'KIND', 'STATE', 'CREATED', 'MEMORY', 'DISK', 'CPU'], ...rows], (text, row) =>
    row === 0 ? print.style('dim', text) : text,
  )
}

const mebibytes = (bytes: number | null) => (bytes === null ? '-' : `${Math.ceil(bytes / 1024 ** 2)} MiB`)
const seconds = (ms: number | null) => (ms === null ? '-' : `${(ms / 1_000).toFixed(1)} s`)
