/**
 * Variables whose value is a secret or may contain one, by their names: keys, tokens, headers of requests,
 * addresses with a password, the environment of agents.
 */
const secret_name =
  /(_KEY|_KEY_PREVIOUS|_TOKEN|_HEADERS)$|^(DATABASE_URL|AGENTRUN_EGRESS_PROXY|AGENTRUN_AGENTS)$/
/** Every other name in a file is that of the key of a model. */
const plain_name = /^(AGENTRUN|OTEL)_|_BASE_URL$/

/** Returns whether the value of the variable must not be shown. */
export const isSecretName = (name: string): boolean => secret_name.test(name)

/** The same for the names in a file, where keys of models have any name. */
export const isSecretInFile = (name: string): boolean => isSecretName(name) || !plain_name.test(name)
