import { expect, test } from 'vitest'
import { Database } from './database.ts'

test('a broken connection is reported, except during a shutdown', async () => {
  const reported: string[] = []
  const db = new Database('postgres://nobody@127.0.0.1:1/nothing', {
    max: 1,
    on_error: error => reported.push(error.message),
  })
  db.pool.emit('error', new Error('while open'), undefined)
  const closed = db[Symbol.asyncDispose]()
  db.pool.emit('error', new Error('while closing'), undefined)
  await closed
  expect(reported).toEqual(['while open'])
})
