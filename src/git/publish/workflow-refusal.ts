const REFUSED = /refusing to allow (?:an?|the) (.{1,200}?) to create or update workflow\s+`?([^\s`]+)`?/i

/**
 * Returns what to do about a push that GitHub rejected because the credentials may not change workflow files;
 * null for any other rejection. `message`: git's, with the message of the remote.
 */
export function workflowRefusal(message: string): string | null {
  const [, credentials = '', path = ''] = REFUSED.exec(message) ?? []
  if (path === '') return null
  const grant = /\bapp\b/i.test(credentials)
    ? 'the GitHub App needs the repository permission "Workflows: Read and write"; grant it in the settings of the app, and accept it for each installation'
    : 'the token needs the repository permission "Workflows: Read and write" (fine-grained) or the scope "workflow" (classic)'
  return `GitHub refused the push because the credentials of this service may not change ${path}: ${grant}. The commits are kept; resume the run to push them.`
}
