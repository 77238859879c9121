import type { Result } from '../../../sdk/operations.ts'
import { command, printResult, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import type { Printer, Style } from '../../printer.ts'
import { repositoryId } from '../../repository.ts'

type Analysis = Result<'analyzeLogs'>

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const styles: Record<string, Style> = { error: 'red', warning: 'yellow', info: 'dim' }
const SHOWN = 20

export const analyze = command({
  name: 'analyze',
  summary: 'explain why a run or several runs failed: known errors, failing and flaky tests',
  usage: ['[RUN]'],
  words: [0, 1],
  options: {
    sandbox: { type: 'string', value: 'ID', about: 'only this sandbox' },
    repo: { type: 'string', value: 'REPO', about: 'all runs of this repository' },
    since: {
      type: 'string',
      value: 'TIME',
      about: 'all runs since then: 30m, 12h, 7d, or an ISO 8601 time; by default a day',
    },
    ask: { type: 'string', value: 'TEXT', about: 'what the model should investigate' },
  },
  notes: [
    'Findings of the analysis without a model are printed at once. A run continues with the default model.',
  ],
  async run({ words: [word], values, json, print, client, signal }) {
    const { sandbox, repo, since, ask } = values
    const many = repo !== undefined || since !== undefined
    if ([word !== undefined, sandbox !== undefined, many].filter(Boolean).length > 1)
      throw new UsageError('name a run, or a sandbox, or runs by --repo and --since')
    const prompt = ask === undefined ? {} : { prompt: ask }
    const analyzed = async (): Promise<Analysis> => {
      if (word !== undefined) {
        const params = { agent_run_id: whole('the id of a run', word) }
        return client().call('analyzeAgentRunLogs', { params, body: prompt, signal })
      }
      if (sandbox !== undefined)
        return client().call('analyzeSandboxLogs', {
          params: { sandbox_id: whole('--sandbox', sandbox) },
          body: prompt,
          signal,
        })
      const repo_id = repo === undefined ? {} : { repo_id: await repositoryId(client(), repo, signal) }
      const from = since === undefined ? {} : { from: momentOf(since) }
      return client().call('analyzeLogs', { body: { ...prompt, ...repo_id, ...from }, signal })
    }
    const analysis = await analyzed()
    return printResult({ json, print }, analysis, () => linesOf(analysis, print))
  },
})

function momentOf(text: string): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const at = unit === undefined ? Date.parse(text) : Date.now() - Number(count) * (UNITS[unit] ?? 0)
  if (Number.isNaN(at))
    throw new UsageError(`--since must be 30m, 12h, 7d or an ISO 8601 time, not ${JSON.stringify(text)}`)
  return new Date(at).toISOString()
}

function linesOf({ message, findings, url }: Analysis, { style }: Pick<Printer, 'style'>): string[] {
  const shown = findings
    .slice(0, SHOWN)
    .flatMap(one => [
      '',
      `${style(styles[one.severity] ?? 'dim', one.severity)}  ${plainText(one.message)}`,
      ...(one.cause === null ? [] : [`  cause  ${plainText(one.cause)}`]),
      ...(one.mend === null ? [] : [`  fix    ${plainText(one.mend)}`]),
      ...one.tests
        .slice(1, 10)
        .map(({ name, location }) =>
          plainText(`  test   ${name}${location === null ? '' : ` (${location})`}`),
        ),
      style('dim', `  ${one.url}`),
    ])
  const more = findings.length > SHOWN ? ['', `and ${findings.length - SHOWN} more`] : []
  return [plainText(message), ...shown, ...more, '', `explained at ${url}`]
}
