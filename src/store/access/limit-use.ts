import { type Db, onlyRow } from '../database.ts'

export type LimitUse = {
  /** Runs that a worker executes. */
  active_runs: number
  secrets: number
  models: number
  skills: number
  mcp_servers: number
}

/** Returns what an organization has of the things that are limited. */
export function limitUse(db: Db, organization_id: number): Promise<LimitUse> {
  return onlyRow<LimitUse>(db, {
    name: 'limit_use',
    text: `select (select count(*) from runs where organization_id = $1 and owner is not null) as active_runs,
        (select count(*) from secrets where organization_id = $1 and repository_id is null) as secrets,
        (select count(*) from organization_models where organization_id = $1) as models,
        (select count(*) from skills where organization_id = $1) as skills,
        (select count(*) from mcp_servers where organization_id = $1 and repository_id is null) as mcp_servers`,
    values: [organization_id],
  })
}
