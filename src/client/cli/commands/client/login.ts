import { text } from 'node:stream/consumers'
import { AgentRunError, createClient } from '../../../sdk/client.ts'
import { askSecret } from '../../ask-secret.ts'
import { command } from '../../command.ts'
import { readConfigFile, writeConfigFile } from '../../config-file.ts'
import { CliError, exit } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'

export const login = command({
  name: 'login',
  summary: 'test a token for this service and store it',
  usage: [],
  words: [0, 0],
  options: {},
  notes: [
    'Prompts for the token, or reads it from standard input: agentrun login < token.txt',
    'It is stored for this address only, and only you can read it.',
  ],
  async run({ json, print, settings, stdin, signal }) {
    const { base_url, organization_id, config_path, config_problem } = settings
    if (config_problem !== null)
      throw new CliError(`${config_path} ${config_problem}: fix or remove it first`)
    const prompt = () => print.note(`Token for ${base_url} (the first start of the service creates one):`)
    const typed = async () => (stdin.isTTY ? askSecret(stdin, signal, prompt) : text(stdin))
    const token = (
      settings.token_from === 'flag' && settings.token !== null ? settings.token : await typed()
    ).trim()
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new CliError('this is not a token: a token is one word of printable ASCII', exit.signed_out)
    const client = createClient({ base_url, token, retries: 1 })
    const user = await client.call('getMe', { signal }).catch(error => {
      // A token without the scope to read its user is valid, too.
      if (error instanceof AgentRunError && error.status === 403) return null
      throw error
    })
    const { file } = readConfigFile(config_path)
    writeConfigFile(config_path, {
      default_url: base_url,
      services: { ...file.services, [base_url]: { token, organization_id } },
    })
    if (json) print.json(user)
    else
      print.line(
        `signed in to ${base_url}${user === null ? '' : ` as ${plainText(user.full_name ?? user.email ?? `user ${user.id}`)}`}`,
      )
    print.note(`stored in ${config_path}`)
    return 0
  },
})
