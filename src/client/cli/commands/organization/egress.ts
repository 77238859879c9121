import type { Body, Result } from '../../../sdk/operations.ts'
import { type CommandArguments, command, type Options, printResult } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { repositoryId } from '../../repository.ts'
import { of_repository } from '../../resource.ts'

type Egress = Result<'getEgress'>
type Agent = Egress['agent']
type Rule = Body<'allowRepositoryEgress'>

const actions = ['show', 'mode', 'setup', 'allow', 'preset', 'remove'] as const
const options = {
  ...of_repository,
  method: {
    type: 'string',
    multiple: true,
    value: 'METHOD',
    actions: ['allow'],
    about: 'only this method, of plain HTTP; may be repeated',
  },
} as const satisfies Options

export const egress = command({
  name: 'egress',
  summary: 'show or change the network access of runs',
  usage: [
    '[show]',
    'mode off|allowlist|default',
    'setup off|allowlist|open|default',
    'allow HOST[:PORT]',
    'preset NAME',
    'remove HOST[:PORT]|NAME',
  ],
  words: [0, 2],
  choices: actions,
  options,
  notes: [
    'A host may be *.example.com, for all names below it. A preset is a package registry by its name, such as npm or pypi. `setup` is for setup commands.',
  ],
  async run(given) {
    const { words, json, print } = given
    const [action = 'show', what] = words
    if (action === 'show' ? what !== undefined : what === undefined)
      throw new UsageError(
        action === 'show'
          ? 'agentrun egress show takes nothing else'
          : `agentrun egress ${action} takes one more word`,
      )
    const set = await (action === 'allow' ? allow(given, what ?? '') : change(given, action, what ?? ''))
    return printResult({ json, print }, set, () => linesOf(set))
  },
})

/**
 * Returns the functions that read and write the rules of the organization, or of the repository that was
 * named.
 */
async function rulesOf({ client, values, signal }: CommandArguments<typeof options>) {
  if (values.repo === undefined)
    return {
      params: null,
      get: () => client().call('getEgress', { signal }),
      put: (body: Body<'setEgress'>) => client().call('setEgress', { body, repeatable: true, signal }),
    }
  const params = { repo_id: await repositoryId(client(), values.repo, signal) }
  return {
    params,
    get: () => client().call('getRepositoryEgress', { params, signal }),
    put: (body: Body<'setEgress'>) =>
      client().call('setRepositoryEgress', { params, body, repeatable: true, signal }),
  }
}

async function allow(given: CommandArguments<typeof options>, text: string) {
  const { values, client, signal } = given
  const rule: Rule = { ...hostAndPort(text), methods: values.method as Rule['methods'] }
  const { params, get, put } = await rulesOf(given)
  // One request where the API has one: simultaneous changes are not lost.
  if (params !== null)
    return client().call('allowRepositoryEgress', { params, body: rule, repeatable: true, signal })
  const { agent, setup } = await get()
  return put({
    setup,
    agent: { ...agent, allow: [...agent.allow.filter(known => nameOf(known) !== nameOf(rule)), rule] },
  })
}

async function change(given: CommandArguments<typeof options>, action: string, what: string) {
  const { get, put } = await rulesOf(given)
  const now = await get()
  const { agent, setup } = now
  if (action === 'setup')
    return put({ agent, setup: { mode: what === 'default' ? null : (what as Egress['setup']['mode']) } })
  if (action === 'mode')
    return put({ setup, agent: { ...agent, mode: what === 'default' ? null : (what as Agent['mode']) } })
  if (action === 'preset')
    return put({
      setup,
      agent: { ...agent, presets: [...new Set([...agent.presets, what as Agent['presets'][number]])] },
    })
  if (action === 'show') return now
  const [kept, presets] = [
    agent.allow.filter(rule => nameOf(rule) !== what),
    agent.presets.filter(name => name !== what),
  ]
  if (kept.length === agent.allow.length && presets.length === agent.presets.length)
    throw new UsageError(`there is no rule and no preset ${JSON.stringify(what)}`)
  return put({ setup, agent: { ...agent, allow: kept, presets } })
}

function hostAndPort(text: string): Pick<Rule, 'host' | 'port'> {
  const [, host = text, port] = /^(.*):(\d{1,6})$/.exec(text) ?? []
  return { host, ...(port !== undefined && { port: Number(port) }) }
}

const nameOf = ({ host, port }: Pick<Rule, 'host' | 'port'>) => `${host}${port == null ? '' : `:${port}`}`

function linesOf({ agent: { mode, allow, presets }, setup }: Egress): string[] {
  return [
    `mode     ${mode ?? 'default'}`,
    ...(setup.mode === null ? [] : [`setup    ${setup.mode}`]),
    ...presets.map(name => `preset   ${plainText(name)}`),
    ...allow.map(
      rule =>
        `allow    ${plainText(nameOf(rule))}${rule.methods == null ? '' : ` ${rule.methods.join(' ')}`}`,
    ),
  ]
}
