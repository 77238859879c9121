import { TOKEN } from '../start-app.ts'

/** Calls the API of agent runs of a service process, whose first token is TOKEN, and returns the body. */
export const callAgentApi = (base_url: string, method: string, path: string, body?: unknown) =>
  callApi(base_url, method, `/agent${path}`, body)

/** The same for other parts of its organization. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are read without types
export async function callApi(base_url: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${base_url}/v1/organizations/1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return response.json()
}
