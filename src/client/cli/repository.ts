import type { Client } from '../sdk/client.ts'
import type { Result } from '../sdk/operations.ts'
import { CliError } from './exit.ts'

/**
 * Returns the id of a repository, given by id, full name or name. Throws CliError that lists the
 * repositories.
 */
export async function repositoryId(client: Client, given: string, signal: AbortSignal): Promise<number> {
  if (/^\d{1,15}$/.test(given)) return Number(given)
  const known: Result<'listRepositories'>['items'] = []
  for await (const repository of client.repositories({}, { signal })) known.push(repository)
  const match =
    known.find(item => item.full_name === given) ?? onlyOne(known.filter(item => item.name === given))
  if (match) return match.id
  const names = known.slice(0, 20).map(item => `${item.id} ${item.full_name}`)
  throw new CliError(
    `no single repository matches ${given}${names.length === 0 ? '' : `; there are ${names.join(', ')}`}`,
  )
}

const onlyOne = <T>(items: T[]) => (items.length === 1 ? items[0] : undefined)
