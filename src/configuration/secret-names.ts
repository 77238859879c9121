/** Variables whose value is a secret or may contain one, by their names: keys, tokens, headers of requests, and addresses with a password. */
const secret_name = /(_KEY|_KEY_PREVIOUS|_TOKEN|_HEADERS)$|^(DATABASE_URL|AGENTRUN_EGRESS_PROXY)$/

/** Returns whether the value of the variable must not be shown. */
export const isSecretName = (name: string): boolean => secret_name.test(name)
