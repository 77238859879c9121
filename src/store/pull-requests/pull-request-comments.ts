import type { Window } from '../../core/paging.ts'
import { changedOne, type Db, firstRow } from '../database.ts'
import { listPage } from '../list-page.ts'
import { insertSql, statement } from '../statement.ts'

export type CommentRow = {
  id: number
  pull_request_id: number
  user_id: number | null
  run_id: number | null
  /** Name of the person; null for a run. */
  full_name: string | null
  body: string
  path: string | null
  line: number | null
  side: 'LEFT' | 'RIGHT' | null
  head_sha: string
  created_at: Date
  updated_at: Date
  /**
   * Whether the forge has the current text; null: the pull request is on no forge. `forge_problem`: why not.
   */
  on_forge: 'pending' | 'posted' | 'refused' | null
  forge_problem: string | null
}
type NewComment = Pick<
  CommentRow,
  'pull_request_id' | 'user_id' | 'run_id' | 'body' | 'path' | 'line' | 'side' | 'head_sha'
>

const columns = `c.id, c.pull_request_id, c.user_id, c.run_id, u.full_name, c.body, c.path, c.line, c.side, c.head_sha, c.created_at, c.updated_at`
const from_forge = `case when m.id is null then null when m.posted_change < m.change then 'pending' when m.problem is null then 'posted' else 'refused' end as on_forge,
  m.problem as forge_problem`
const joined = `left join users u on u.id = c.user_id left join comment_mirrors m on m.organization_id = c.organization_id and m.comment_id = c.id`

/**
 * Inserts a comment; undefined when the pull request is not in this organization. A person's comment on a
 * forge's pull request is queued for the forge.
 */
export function insertComment(
  db: Db,
  organization_id: number,
  comment: NewComment,
): Promise<CommentRow | undefined> {
  const { pull_request_id, user_id, run_id, body, path, line, side, head_sha } = comment
  return firstRow<CommentRow>(
    db,
    statement(
      'insert_pull_request_comment',
      bind => `with c as (
          ${insertSql(
            bind,
            'pull_request_comments',
            { organization_id, pull_request_id, user_id, run_id, body, path, line, side, head_sha },
            {
              select: () =>
                `from pull_requests where organization_id = ${bind(organization_id)} and id = ${bind(pull_request_id)}`,
              end: 'returning *',
            },
          )}
        ),
        m as (
          insert into comment_mirrors (organization_id, comment_id, pull_request_id, repository_id)
          select p.organization_id, c.id, p.id, p.repository_id
          from c
          join pull_requests p on p.organization_id = c.organization_id and p.id = c.pull_request_id
          where p.remote_number is not null and c.user_id is not null
          returning id
        )
        select ${columns}, case when exists (select from m) then 'pending' end as on_forge,
          null as forge_problem
        from c
        left join users u on u.id = c.user_id`,
    ),
  )
}

/** Returns a comment of a pull request, from the service or mirrored from its forge. */
export function getComment(
  db: Db,
  organization_id: number,
  pull_request_id: number,
  id: number,
): Promise<CommentRow | undefined> {
  return firstRow<CommentRow>(db, {
    name: 'get_pull_request_comment',
    text: `select ${columns}, ${from_forge}
      from pull_request_comments c ${joined}
      where c.organization_id = $1 and c.pull_request_id = $2 and c.id = $3`,
    values: [organization_id, pull_request_id, id],
  })
}

/** Returns one page, oldest first. */
export async function listComments(
  db: Db,
  organization_id: number,
  pull_request_id: number,
  window: Window,
): Promise<{ rows: CommentRow[]; total: number }> {
  const where = 'c.organization_id = $1 and c.pull_request_id = $2'
  const list = {
    columns: `${columns}, ${from_forge}`,
    from: `pull_request_comments c ${joined}`,
    where,
    key: 'c.id',
    order: 'asc',
  } as const
  return listPage(
    db,
    { name: 'list_pull_request_comments', ...list },
    [organization_id, pull_request_id],
    window,
  )
}

/** Returns a comment, locked until the transaction ends. */
export function lockComment(
  db: Db,
  organization_id: number,
  pull_request_id: number,
  id: number,
): Promise<CommentRow | undefined> {
  return firstRow<CommentRow>(db, {
    name: 'lock_pull_request_comment',
    text: `select ${columns}, ${from_forge}
      from pull_request_comments c ${joined}
      where c.organization_id = $1 and c.pull_request_id = $2 and c.id = $3
      for update of c`,
    values: [organization_id, pull_request_id, id],
  })
}

const mirror_changed =
  'm as (update comment_mirrors set change = change + 1 where organization_id = $1 and comment_id = $2)'

/**
 * Sets the text of a comment and queues its mirror on the forge, in one statement. Returns the time;
 * undefined: there is no such comment.
 */
export async function updateComment(
  db: Db,
  organization_id: number,
  id: number,
  body: string,
): Promise<Date | undefined> {
  const { rows } = await db.query<{ updated_at: Date }>({
    name: 'update_pull_request_comment',
    text: `with ${mirror_changed} update pull_request_comments set body = $3, updated_at = now() where organization_id = $1 and id = $2 returning updated_at`,
    values: [organization_id, id, body],
  })
  return rows[0]?.updated_at
}

/**
 * Deletes a comment and queues the deletion of its mirror on the forge, in one statement. False: there is no
 * such comment.
 */
export function deleteComment(db: Db, organization_id: number, id: number): Promise<boolean> {
  return changedOne(db, {
    name: 'delete_pull_request_comment',
    text: `with ${mirror_changed} delete from pull_request_comments where organization_id = $1 and id = $2`,
    values: [organization_id, id],
  })
}
