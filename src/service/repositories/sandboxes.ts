import type { ListSandboxesQuery, Sandbox, SandboxLogsQuery } from '../../contract/repositories/sandboxes.ts'
import { type Extent, extentOf, pageNumbers, pageWindow } from '../../core/paging.ts'
import { shownEntry } from '../../core/runs/trace/stored-entry.ts'
import { entryUrl } from '../../core/runs/trace-url.ts'
import { ServiceError } from '../../core/service-error.ts'
import { listSandboxEntries } from '../../store/runs/sandbox-entries.ts'
import {
  getSandbox as getRow,
  listSandboxes as listRows,
  type SandboxRow,
} from '../../store/workspaces/sandboxes.ts'
import type { Context } from '../context.ts'

export async function requireSandbox(ctx: Context, id: number): Promise<SandboxRow> {
  const row = await getRow(ctx.db, ctx.organization_id, id)
  if (!row) throw new ServiceError('not_found', 'Sandbox not found.')
  return row
}

/** Returns one page, newest first. */
export async function listSandboxes(ctx: Context, query: ListSandboxesQuery) {
  const window = pageWindow(query)
  const filter = { ...query, repository_ids: ctx.actor.repository_ids ?? undefined }
  const { rows, total } = await listRows(ctx.db, ctx.organization_id, filter, window)
  return { items: rows.map(row => sandboxObject(row, ctx.base_url)), total, ...pageNumbers(total, window) }
}

/** Throws 404 when it is not in this organization. */
export async function getSandbox(ctx: Context, id: number): Promise<Sandbox> {
  return sandboxObject(await requireSandbox(ctx, id), ctx.base_url)
}

/**
 * Returns one page of the trace entries of a sandbox as JSON text: entries are passed through as they are
 * stored.
 */
export async function getSandboxLogs(
  ctx: Context,
  id: number,
  query: SandboxLogsQuery,
): Promise<{ body: string; extent: Extent }> {
  const sandbox = await requireSandbox(ctx, id)
  const window = pageWindow(query)
  const { rows, total } = await listSandboxEntries(
    ctx.db,
    ctx.organization_id,
    sandbox,
    query.after_seq ?? 0,
    window,
  )
  const numbers = JSON.stringify({ total, ...pageNumbers(total, window) })
  const body = `{"items":[${rows.map(row => shownEntry(row.body, ctx.base_url)).join(',')}],${numbers.slice(1)}`
  return { body, extent: extentOf(rows, 'seq', total, window) }
}

function sandboxObject(row: SandboxRow, base_url: string): Sandbox {
  const { limits } = row
  return {
    id: row.id,
    organization_id: row.organization_id,
    agent_run_id: row.run_id,
    repo_id: row.repository_id,
    kind: row.kind,
    state: row.state,
    end_reason: row.end_reason,
    driver: row.driver,
    host: row.host,
    limits: {
      memory_bytes: limits.max_memory_bytes,
      cpus: limits.cpus,
      processes: limits.max_processes,
      disk_bytes: limits.max_disk_bytes,
      files: limits.max_files,
    },
    peaks: {
      memory_bytes: row.peak_memory_bytes,
      disk_bytes: row.peak_disk_bytes,
      processes: row.peak_processes,
      cpu_ms: row.cpu_ms,
      memory_kills: row.memory_kills,
    },
    first_seq: row.first_seq,
    last_seq: row.last_seq,
    logs_url: entryUrl(base_url, row.run_id, row.first_seq),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}
