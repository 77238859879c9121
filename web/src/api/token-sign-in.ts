import { isSignedOut } from './api-error.ts'
import { session } from './client.ts'
import { createPageCore } from './page-core.ts'

/** The code in a sign-in link; null when the text is not a link. */
const codeOfLink = (text: string) => /#code=([^&\s]+)/.exec(text)?.[1] ?? null

/**
 * The prefix of every token that the service creates. An operator may have chosen another one for the first.
 */
const TOKEN_PREFIX = 'arun_'

/**
 * Signs in with what a person pasted: a sign-in link, its code, or an API token. Rejects with AgentRunError.
 */
export async function signInWith(pasted: string): Promise<void> {
  const text = pasted.trim()
  const code = codeOfLink(text)
  if (code !== null) return session.signIn(code)
  if (text.startsWith(TOKEN_PREFIX)) return session.signIn(await codeFor(text))
  await session.signIn(text).catch(async (refusal: unknown) => {
    if (!isSignedOut(refusal)) throw refusal
    await session.signIn(await codeFor(text))
  })
}

/**
 * Exchanges a token for a sign-in code with the same reach. Rejects with 401 for an unknown token, and with
 * 403 for one that expires.
 */
async function codeFor(token: string): Promise<string> {
  const { call } = createPageCore((input, init) => fetch(input, init), {
    credentials: { token: async () => token },
    organization: () => Promise.reject(new TypeError('The organization of the token is not known yet')),
  })
  const [me, { items }] = [await call('getMe'), await call('listOrganizations', { query: { limit: 1 } })]
  const org_id = items[0]?.id
  if (org_id === undefined) throw new Error('This token reaches no organization.')
  const { sign_in_link } = await call('createSignInLink', { params: { org_id, user_id: me.id } })
  return codeOfLink(sign_in_link) ?? ''
}
