import type { Database } from '../../../src/store/database.ts'

/** Another organization with a user, for rows that no request creates. */
export async function addOrganization(
  db: Database,
  name: string,
): Promise<{ organization_id: number; user_id: number }> {
  const { rows } = await db.query<{ organization_id: number; user_id: number }>({
    text: `with o as (insert into organizations (name) values ($1) returning id),
      u as (insert into users (full_name) values ($1) returning id),
      m as (
        insert into memberships (organization_id, user_id, role)
        select o.id, u.id, 'ADMIN'
        from o, u
      )
      select o.id as organization_id, u.id as user_id
      from o, u`,
    values: [name],
  })
  const created = rows[0]
  if (!created) throw new Error('no organization was made')
  return created
}

/**
 * `count` queued runs with their first entry and its message, as consecutive create requests would leave
 * them, in one statement.
 */
export async function fillQueue(
  db: Database,
  owner: { organization_id: number; user_id: number },
  count: number,
): Promise<void> {
  await db.query({
    text: `with made as (
        insert into runs (
          organization_id, user_id, status, source_type, agent_type, model, prompt, title, total_logs,
          pending_messages, runnable_at, deadline_at
        )
        select $1, $2, 'queued', 'API', 'built_in', 'scripted/playbook',
          'Say what number ' || n || ' is good for.', 'Number ' || n, 1, 1, clock_timestamp(),
          now() + interval '1 day'
        from generate_series(1, $3::int) n
        returning id, organization_id, user_id, prompt
      ),
      entries as (
        insert into log_entries (run_id, seq, organization_id, turn, message_type, body)
        select id, 1, organization_id, 1, 'USER_MESSAGE',
          json_build_object('agent_run_id', id, 'seq', 1, 'message_type', 'USER_MESSAGE')::text
        from made
      )
      insert into messages (run_id, organization_id, seq, turn, mode, text, user_id)
      select id, organization_id, 1, 1, 'prompt', prompt, user_id
      from made`,
    values: [owner.organization_id, owner.user_id, count],
  })
}
