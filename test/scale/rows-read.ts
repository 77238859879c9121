import type { QueryResultRow } from 'pg'
import type { Db, Statement, Transactional } from '../../src/store/database.ts'

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** Rows of each table that a statement has read, matching or not. */
export type RowsRead = Record<string, number>

function readBy(plan: Plan, sums: RowsRead): RowsRead {
  const table = plan['Relation Name']
  if (table !== undefined && plan['Node Type'] !== 'ModifyTable') {
    const {
      'Actual Rows': rows = 0,
      'Rows Removed by Filter': removed = 0,
      'Rows Removed by Index Recheck': rechecked = 0,
    } = plan
    sums[table] = Math.round((sums[table] ?? 0) + (rows + removed + rechecked) * (plan['Actual Loops'] ?? 1))
  }
  for (const inner of plan.Plans ?? []) readBy(inner, sums)
  return sums
}

/**
 * Returns a database that executes each statement twice in `tx`: by EXPLAIN ANALYZE, undone at once, which
 * adds to `sums` what it read, and as it is. Neither is prepared: the plan is that for the given values.
 */
export function explained(tx: Db, sums: RowsRead): Transactional {
  const query = async <R extends QueryResultRow>({ name: _name, ...statement }: Statement) => {
    if (
      /^\s*(select|with|update|insert|delete)\b/i.test(statement.text) &&
      !statement.text.includes('set_config')
    ) {
      await tx.query({ text: 'savepoint explained' })
      // Whatever the format of the statement's own rows.
      const { rows } = await tx.query<{ 'QUERY PLAN': { Plan: Plan }[] }>({
        ...(statement.values && { values: statement.values }),
        text: `explain (analyze, timing off, format json) ${statement.text}`,
      })
      await tx.query({ text: 'rollback to savepoint explained' })
      for (const { Plan } of rows[0]?.['QUERY PLAN'] ?? []) readBy(Plan, sums)
    }
    return tx.query<R>(statement)
  }
  return { query, transaction: work => work({ query }) }
}
