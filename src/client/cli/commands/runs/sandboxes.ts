import type { Query } from '../../../sdk/operations.ts'
import { type CommandArguments, command, type Options, whole } from '../../command.ts'
import { ago } from '../../format-run.ts'
import { plainText } from '../../plain-text.ts'
import { repositoryId } from '../../repository.ts'
import { list, newest_options, table } from '../../resource.ts'

const options = {
  run: { type: 'string', value: 'ID', about: 'only those of this run' },
  repo: { type: 'string', value: 'REPO', about: 'only those of runs of this repository' },
  kind: {
    type: 'string',
    value: 'KIND',
    choices: ['agent', 'setup', 'check'],
    about: 'only those of this kind',
  },
  state: {
    type: 'string',
    value: 'STATE',
    choices: ['starting', 'running', 'ended', 'lost'],
    about: 'only those in this state',
  },
  ...newest_options,
} as const satisfies Options

export const sandboxes = command({
  name: 'sandboxes',
  summary: 'list sandboxes of runs, newest first, with the resources that they used',
  usage: [],
  words: [0, 0],
  options,
  run: list({
    operation: 'listSandboxes',
    query: async ({ values, client, signal }: CommandArguments<typeof options>) => ({
      agent_run_id: whole('--run', values.run),
      repo_id: values.repo === undefined ? undefined : await repositoryId(client(), values.repo, signal),
      kind: values.kind as Query<'listSandboxes'>['kind'],
      state: values.state as Query<'listSandboxes'>['state'],
    }),
    limit: 20,
    noun: 'sandboxes',
    empty: 'no sandboxes',
    lines: table({
      ID: one => String(one.id),
      RUN: one => String(one.agent_run_id),
      KIND: one => one.kind,
      STATE: one => plainText(one.state),
      CREATED: one => ago(one.created_at, Date.now()),
      MEMORY: one => mebibytes(one.peaks.memory_bytes),
      DISK: one => mebibytes(one.peaks.disk_bytes),
      CPU: one => seconds(one.peaks.cpu_ms),
    }),
  }).run,
})

const mebibytes = (bytes: number | null) => (bytes === null ? '-' : `${Math.ceil(bytes / 1024 ** 2)} MiB`)
const seconds = (ms: number | null) => (ms === null ? '-' : `${(ms / 1_000).toFixed(1)} s`)
