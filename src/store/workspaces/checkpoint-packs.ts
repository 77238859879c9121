import { allRows, changedOne, type Db, firstRow } from '../database.ts'

type PackRow = { n: number; tip: string; base_sha: string | null; content: Buffer; sound: boolean }

/** Returns the packs of a run without their content, in order. */
export function listPacks(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ n: number; tip: string; base_sha: string | null; bytes: number }[]> {
  return allRows<{ n: number; tip: string; base_sha: string | null; bytes: number }>(db, {
    name: 'list_packs',
    text: `select n, tip, base_sha, length(content) as bytes
      from checkpoint_packs
      where organization_id = $1 and run_id = $2
      order by n`,
    values: [organization_id, run_id],
  })
}

/** Returns one pack. `sound`: its bytes match their checksum. */
export function getPack(
  db: Db,
  organization_id: number,
  run_id: number,
  n: number,
): Promise<PackRow | undefined> {
  return firstRow<PackRow>(db, {
    name: 'get_pack',
    text: `select n, tip, base_sha, content, sha256(content) = sha256 as sound
      from checkpoint_packs
      where organization_id = $1 and run_id = $2 and n = $3`,
    values: [organization_id, run_id, n],
  })
}

/**
 * Copies a checkpoint of another run, with its packs, as the start of a run that has none. Returns false when
 * the checkpoint does not exist, or one of its packs is corrupt.
 */
export function copyCheckpoint(
  db: Db,
  organization_id: number,
  from: { run_id: number; seq: number },
  to_run_id: number,
): Promise<boolean> {
  return changedOne(db, {
    name: 'copy_checkpoint',
    text: `with start as (
        insert into checkpoints (
          organization_id, run_id, seq, through_seq, packs, base_sha, tree, head, branch, left_out
        )
        select r.organization_id, r.id, 0, 0, c.packs, c.base_sha, c.tree, c.head, c.branch, c.left_out
        from checkpoints c
        join runs r on r.organization_id = c.organization_id and r.id = $4
        where c.organization_id = $1
          and c.run_id = $2
          and c.seq = $3
          and not exists (
            select 1
            from checkpoint_packs p
            where p.organization_id = $1
              and p.run_id = $2
              and p.n <= c.packs
              and sha256(p.content) <> p.sha256
          )
        returning organization_id, run_id, packs
      ),
      packs as (
        insert into checkpoint_packs (organization_id, run_id, n, tip, base_sha, inherited, sha256, content)
        select start.organization_id, start.run_id, p.n, p.tip, p.base_sha, true, p.sha256, p.content
        from start
        join checkpoint_packs p on p.organization_id = $1 and p.run_id = $2 and p.n <= start.packs
      )
      select 1
      from start`,
    values: [organization_id, from.run_id, from.seq, to_run_id],
  })
}
