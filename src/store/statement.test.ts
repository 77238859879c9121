import { expect, test } from 'vitest'
import type { Statement } from './database.ts'
import { insertRow, insertSql, now, replacing, statement, updateRow } from './statement.ts'

const key = { organization_id: 1, name: 'a', description: 'b', updated_by: 2 }

test('an insert names each column once, and binds its value at the same position', () => {
  expect(insertRow('skills', { ...key, content: 'c', updated_at: now })).toMatchObject({
    text: expect.stringMatching(
      /^insert into skills \(organization_id, name, description, updated_by, content, updated_at\)\nvalues \(\$1, \$2, \$3, \$4, \$5, now\(\)\)\n$/,
    ),
    values: [1, 'a', 'b', 2, 'c'],
  })
})

test('an insert that depends on a row selects its values, and an expression binds its own', () => {
  const { text, values } = insertRow(
    'skills',
    { ...key, content: bind => `upper(${bind('c')})` },
    {
      as: 's',
      select: bind => `from organizations where id = ${bind(1)}`,
      end: `on conflict (organization_id, name) do update set ${replacing('content', 'updated_by')}`,
    },
  )
  expect(text).toBe(
    `insert into skills as s (organization_id, name, description, updated_by, content)
select $1, $2, $3, $4, upper($5)
from organizations where id = $6
on conflict (organization_id, name) do update set content = excluded.content, updated_by = excluded.updated_by`,
  )
  expect(values).toEqual([1, 'a', 'b', 2, 'c', 1])
})

test('an insert that is part of a statement shares its parameters', () => {
  const { name, text, values } = statement(
    'both',
    bind => `with a as (${insertSql(bind, 'ticks', { name: 'a', taken_at: now })}\n) select ${bind('z')}`,
  )
  expect(name).toBe('both')
  expect(text).toBe('with a as (insert into ticks (name, taken_at)\nvalues ($1, now())\n\n) select $2')
  expect(values).toEqual(['a', 'z'])
})

test('an update has one text whatever changes: a column without a value keeps its own', () => {
  const update = (change: { title?: string | undefined; rules?: string | null }) =>
    updateRow('organizations', {
      where: { id: 1 },
      and: bind => `name <> ${bind('x')}`,
      set: { event_seq: 3 },
      change: { name: change.title, rules: change.rules },
      returning: 'id',
    })
  const first = update({ title: 'a' })
  const second = update({ rules: null })
  expect(first.text).toBe(
    `update organizations
set event_seq = $2, name = case when $3 then $4 else name end, rules = case when $5 then $6 else rules end
where id = $1 and name <> $7
returning id`,
  )
  expect(second.text).toBe(first.text)
  expect(second.name).toBe(first.name)
  expect(first.values).toEqual([1, 3, true, 'a', false, null, 'x'])
  expect(second.values).toEqual([1, 3, false, null, true, null, 'x'])
})

test('statements of other columns have other names, and those of the same the same', () => {
  const one = insertRow('skills', { ...key, content: 'c' })
  expect(insertRow('skills', { ...key, content: 'd' }).name).toBe(one.name)
  expect(insertRow('skills', { ...key, content: 'd', updated_at: now }).name).not.toBe(one.name)
})

test('a value that is undefined is refused: it would be stored as null', () => {
  const updated_at = undefined as unknown as string
  expect(() => insertRow('skills', { ...key, content: 'c', updated_at })).toThrow(
    'skills.updated_at has no value',
  )
  expect(() => updateRow('skills', { where: { name: 'a' }, set: { updated_at } })).toThrow('has no value')
  expect(() => updateRow('skills', { where: { name: updated_at } })).toThrow('skills.name has no value')
})

/** Only a statement is sent: what does not fit compiles, but is none. */
const sent = (statement: Statement) => statement.values

test('a value that may be undefined is not sent, also where its column has a default', () => {
  const maybe: { updated_at?: string } = key.name === 'a' ? {} : { updated_at: 'x' }
  const { updated_at } = maybe
  // @ts-expect-error: its column has a default.
  expect(() => sent(insertRow('skills', { ...key, content: 'c', updated_at }))).toThrow('has no value')
  // @ts-expect-error: a column that is absent sometimes, so that there are two statements.
  sent(insertRow('skills', { ...key, content: 'c', ...maybe }))
  // @ts-expect-error: a part of a statement.
  expect(() => insertSql(String, 'skills', { ...key, content: 'c', updated_at })).toThrow('has no value')
  // @ts-expect-error: a value to set, unlike a change.
  expect(() => sent(updateRow('skills', { where: { name: 'a' }, set: { updated_at } }))).toThrow()
  // @ts-expect-error: a condition.
  expect(() => sent(updateRow('skills', { where: { updated_at }, set: { content: 'c' } }))).toThrow()
  // @ts-expect-error: absent, it is another statement; undefined, it is the same.
  sent(updateRow('skills', { where: { name: 'a' }, set: { content: 'c' }, change: maybe }))
  const changed = updateRow('skills', { where: { name: 'a' }, change: { updated_at } })
  expect(sent(changed)).toEqual(['a', false, null])
})

test('a column that only a spread names is one of the table, too', () => {
  const other = { of: 1 }
  // @ts-expect-error: the table has no such column.
  sent(insertRow('ticks', { name: 'a', taken_at: now, ...other }))
  // @ts-expect-error: the table has no such column.
  insertSql(String, 'ticks', { name: 'a', taken_at: now, ...other })
  // @ts-expect-error: the table has no such column.
  sent(updateRow('ticks', { where: { name: 'a' }, set: { taken_at: now, ...other } }))
  // @ts-expect-error: the table has no such column.
  sent(updateRow('ticks', { where: { name: 'a' }, change: { taken_at: 'x', ...other } }))
  // @ts-expect-error: the table has no such column.
  expect(sent(updateRow('ticks', { where: { name: 'a', ...other }, set: { taken_at: now } }))).toEqual([
    'a',
    1,
  ])
})

test('unknown columns, missing ones, and values of another type do not compile', () => {
  // @ts-expect-error: the table has no such column.
  sent(insertRow('ticks', { name: 'a', taken_at: now, of: 1 }))
  // @ts-expect-error: this column has no default.
  insertRow('ticks', { name: 'a' })
  // @ts-expect-error: a text, so JSON must be serialized.
  insertRow('ticks', { taken_at: now, name: { a: 1 } })
  // @ts-expect-error: null never equals.
  updateRow('runs', { where: { owner: null }, set: { owner: null } })
  // @ts-expect-error: no such table.
  expect(insertRow('tocks', { name: 'a' }).values).toEqual(['a'])
})
