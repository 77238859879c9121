import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { type App, rows } from '../../start-app.ts'
import { playbook } from '../visit.ts'

/**
 * Creates a finished run with this number of entries, every 2,500th an error. They are written to the tables:
 * no run of a test could be so long.
 */
export async function createLongRun(app: App, entries: number): Promise<number> {
  const run = await createRun(app, { prompt: playbook('A long day', 'answer: "Done."') })
  const { total_logs } = await awaitEnd(app, run.id)
  await rows(
    app,
    `insert into log_entries (run_id, seq, organization_id, turn, message_type, tool_name, failed, body)
     select $1::bigint, n, $2::bigint, 1, type, tool, type = 'ERROR', json_build_object('agent_run_id', $1::bigint, 'seq', n, 'created_at', '2026-11-20T10:00:00.000Z',
       'turn', 1, 'message_type', type, 'thought', repeat('thinking ', n % 20), 'tool_name', tool,
       'tool_input', json_build_object('command', 'echo entry ' || n), 'tool_output', json_build_object('status', 'ok', 'exit_code', 0,
       'output', repeat('line of ' || n || E'\\n', 1 + n % 12), 'truncated', false),
       'observation', json_build_object('code', 'odd', 'message', 'Odd thing ' || n, 'retryable', false, 'phase', 'tool'),
       'duration_ms', 5, 'truncated', false, 'artifact_url', null)::text
     from (select n, case when n % 2500 = 0 then 'ERROR' else 'ACTION' end as type, case when n % 2500 = 0 then null else 'shell' end as tool
       from generate_series($3::int + 1, $4::int) n) numbers`,
    [run.id, app.org_id, total_logs, entries],
  )
  await rows(app, 'update runs set total_logs = $2 where id = $1', [run.id, entries])
  return run.id
}
