import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contractionsOf } from '../scripts/contractions.ts'
import { needsOf } from '../src/store/migrate.ts'

const folder = new URL('../src/store/migrations/', import.meta.url)
const files = readdirSync(folder).sort()

test('every migration has a number of its own', () => {
  const numbers = files.map(name => /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1])
  expect(numbers).toEqual([...new Set(numbers)])
  expect(numbers).not.toContain(undefined)
})

test('a migration that is incompatible with older code declares it in its first line', () => {
  const unmarked = files
    .map(name => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }))
    .filter(({ name, sql }) => needsOf(name, sql) === null)
    .flatMap(({ name, sql }) =>
      contractionsOf(sql).map(({ statement, why }) => `${name}: ${statement}: ${why}`),
    )
  expect(unmarked).toEqual([])
})

test('a migration that needs another one needs an earlier one that is there', () => {
  const needs = files.map(name => ({
    name,
    needs: needsOf(name, readFileSync(new URL(name, folder), 'utf8')),
  }))
  expect(
    needs.filter(({ name, needs }) => needs !== null && (!files.includes(needs) || needs > name)),
  ).toEqual([])
})

test.each([
  'drop table runs',
  'alter table runs drop column title',
  'alter table runs add column a text, drop column title',
  'alter table runs rename column title to name',
  'alter table runs rename to executions',
  'alter table runs alter column title set not null',
  'alter table runs alter title type varchar(10)',
  'alter table runs add column a text not null',
  'alter table runs add a int not null, add column b text',
  'alter table runs add check (title <> owner)',
  'alter table runs add constraint some_name check (title <> owner)',
  'alter table runs add foreign key (organization_id, a) references b (organization_id, a)',
  'create unique index once on runs (organization_id, title)',
  'drop function charge',
  '-- a comment; with a semicolon\nalter table runs -- expansion\n  drop column title',
])('%s is found', sql => {
  expect(contractionsOf(`create index harmless on runs (title);\n${sql};`)).toHaveLength(1)
})

test.each([
  'alter table runs add column a text',
  "alter table runs add column a text not null default 'drop table'",
  'alter table runs add column a int generated always as (turn + 1) stored not null',
  'alter table runs add column a text check (length(a) > 3)',
  'alter table runs alter column title drop not null, drop constraint c, add constraint c check (true)',
  'create table more (a int not null, unique (a)); alter table more add check (a > 1); create unique index b on more (a)',
  'create index concurrently a on runs (title)',
  'create or replace function f() returns int language sql as $$ select 1; drop table runs $$',
  'drop index runs_leased',
  '-- expansion: older code writes null\nalter table runs add check (a is null or b)',
  'update runs set title = 1 where rename is not null',
])('%s is an expansion', sql => {
  expect(contractionsOf(`${sql};`)).toEqual([])
})

test('the first line names the code that is compatible with a contraction', () => {
  expect(needsOf('0020_b.sql', '-- contract\ndrop table a;')).toBe('0020_b.sql')
  expect(needsOf('0020_b.sql', '-- contract after 0019_a.sql\ndrop table a;')).toBe('0019_a.sql')
  expect(needsOf('0020_b.sql', '-- What is contracted.\n-- contract\n')).toBeNull()
  expect(needsOf('0020_b.sql', '-- contracts of people\n')).toBeNull()
})
