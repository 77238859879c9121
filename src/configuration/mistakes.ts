/** Not the service's: those of the command line, perhaps in the shell that starts the service. */
const client_variables = ['AGENTRUN_TOKEN', 'AGENTRUN_URL', 'AGENTRUN_ORG']

type GivenValues = {
  env: NodeJS.ProcessEnv
  origins: ReadonlyMap<string, string>
  known: string[]
  model_keys: string[] | null
}

/**
 * Returns a mistake for each unknown name. A file contains only names of ours and of the keys of models;
 * `model_keys` is null while these are not known. Of the variables of the process, only those that begin with
 * `AGENTRUN_` are ours.
 */
export function unknownNames({ env, origins, known, model_keys }: GivenValues): string[] {
  const isUnknown = (name: string) => {
    if (name === 'AGENTRUN_CONFIG_FILE') return true
    if (known.includes(name.replace(/_FILE$/, ''))) return false
    if (!origins.has(name)) return name.startsWith('AGENTRUN_') && !client_variables.includes(name)
    return (
      name.startsWith('AGENTRUN_') ||
      (model_keys !== null && !model_keys.includes(name.replace(/_FILE$/, '')))
    )
  }
  return Object.keys(env)
    .filter(isUnknown)
    .sort()
    .map(
      name =>
        `${name}: ${name === 'AGENTRUN_CONFIG_FILE' ? 'the name is AGENTRUN_CONFIG' : 'unknown variable'}`,
    )
}

/** Puts the file and line of the variable that the mistake begins with before it. */
export function withOrigin(mistake: string, origins: ReadonlyMap<string, string>): string {
  const name = /^\w+/.exec(mistake)?.[0] ?? ''
  const origin = origins.get(name) ?? origins.get(`${name}_FILE`)
  return origin === undefined ? mistake : `${origin}: ${mistake}`
}
