import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RegisteredAgent } from '../core/agents/registered-agents.ts'
import { storedJson } from '../core/json/stored-json.ts'

/**
 * Returns the versions that are installed in the folders of known agents, by id; null: this machine does not
 * have it.
 */
export function readAgentVersions(
  agents: ReadonlyMap<string, RegisteredAgent>,
): ReadonlyMap<string, string | null> {
  return new Map([...agents].map(([id, agent]) => [id, installedVersion(agent)]))
}

function installedVersion({ folder, npm }: Pick<RegisteredAgent, 'folder' | 'npm'>): string | null {
  if (folder === null || npm === null) return null
  try {
    const description = storedJson<unknown>(
      readFileSync(join(folder, 'node_modules', npm.package, 'package.json'), 'utf8'),
    )
    const version =
      typeof description === 'object' && description !== null && 'version' in description
        ? description.version
        : null
    return typeof version === 'string' ? version : null
  } catch {
    return null
  }
}

/** Returns what is wrong with the folders of known agents on a machine with workers: one line each. */
export function wrongAgentFolders(agents: ReadonlyMap<string, RegisteredAgent>): string[] {
  return [...agents.values()].flatMap(({ id, folder, npm }) => {
    if (folder === null || npm === null) return []
    const installed = installedVersion({ folder, npm })
    const install = `npm install --prefix ${folder} ${npm.package}@${npm.verified}`
    if (installed === null) return [`agent ${id}: ${folder} does not have ${npm.package}; ${install}`]
    return installed === npm.verified
      ? []
      : [`agent ${id}: ${npm.package} ${installed} is installed, ${npm.verified} was tested`]
  })
}
