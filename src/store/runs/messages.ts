import type { Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { parseColumn, TextList } from '../json-column.ts'
import { insertSql, statement } from '../statement.ts'

export type MessageMode = 'prompt' | 'steer' | 'enqueue' | 'interrupt' | 'answer'
/** `images`: data URLs. */
type MessageRow = {
  id: number
  seq: number
  mode: MessageMode
  text: string
  images: string[]
  user_id: number | null
}

/** `turn`: the first turn in which it may be delivered. `images`: data URLs. */
export type NewMessage = {
  turn: number
  mode: MessageMode
  text: string
  images: string[] | null
  user_id: number
}

/** Stores a message until a worker delivers it to the agent: that of entry `seq`. */
export async function insertMessage(
  db: Db,
  message: NewMessage & { organization_id: number; run_id: number; seq: number },
): Promise<void> {
  await db.query(
    statement('insert_message', bind => {
      const turn = `${bind(message.turn)}::int`
      return `with m as (
          ${insertSql(bind, 'messages', {
            organization_id: message.organization_id,
            run_id: message.run_id,
            seq: message.seq,
            turn: message.turn,
            mode: message.mode,
            text: message.text,
            images: message.images === null ? null : JSON.stringify(message.images),
            user_id: message.user_id,
          })}
        )
        update runs
        set pending_messages = pending_messages + case when ${turn} <= turn then 1 else 0 end,
          interrupt_requested = interrupt_requested or ${bind(message.mode)} = 'interrupt',
          runnable_at = case
            when status = 'waiting' and ${turn} <= turn then coalesce(runnable_at, now())
            else runnable_at
          end
        where organization_id = ${bind(message.organization_id)} and id = ${bind(message.run_id)}`
    }),
  )
}

/**
 * Takes every message that this turn may deliver, once, under the fence, for the next journal record.
 * Enqueued ones stay for the next turn.
 */
export async function takeMessages(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
): Promise<MessageRow[]> {
  const { rows } = await db.query<Omit<MessageRow, 'images'> & { images: string | null }>({
    name: 'take_messages',
    text: `with run as (
        select id, turn, journal_count
        from runs
        where organization_id = $1 and id = $2 and ${isHeldBy('$3')}
        for no key update
      ),
      taken as (
        update messages m
        set delivered_at = now(), delivered_n = run.journal_count + 1
        from run
        where m.run_id = run.id and m.delivered_at is null and m.turn <= run.turn
        returning m.id, m.seq, m.mode, m.text, m.images, m.user_id
      ),
      counted as (
        update runs r
        set pending_messages = pending_messages - (select count(*) from taken), interrupt_requested = false
        from run
        where r.id = run.id
      )
      select *
      from taken
      order by id`,
    values: [organization_id, run_id, epoch],
  })
  return rows.map(row => ({ ...row, images: row.images === null ? [] : parseColumn(TextList, row.images) }))
}

/** Postpones undelivered messages to the next turn. Returns whether there are any. */
export async function postponeMessages(db: Db, organization_id: number, run_id: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'postpone_messages',
    text: `update messages m
      set turn = greatest(m.turn, r.turn + 1)
      from runs r
      where r.organization_id = $1 and r.id = $2 and m.run_id = r.id and m.delivered_at is null`,
    values: [organization_id, run_id],
  })
  return (rowCount ?? 0) > 0
}

/** Returns the images of the message that is entry `seq` of a run, as data URIs. */
export async function listMessageImages(
  db: Db,
  organization_id: number,
  run_id: number,
  seq: number,
): Promise<string[]> {
  const { rows } = await db.query<{ images: string }>({
    name: 'list_message_images',
    text: `select images
      from messages
      where organization_id = $1 and run_id = $2 and seq = $3 and images is not null
      order by id`,
    values: [organization_id, run_id, seq],
  })
  return rows.flatMap(({ images }) => parseColumn(TextList, images))
}
