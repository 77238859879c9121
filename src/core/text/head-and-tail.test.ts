import { expect, test } from 'vitest'
import { headAndTail } from './head-and-tail.ts'

test.each([
  [0, ''],
  [1, 'a'],
  [3, 'abf'],
  [4, 'abef'],
  [6, 'abcdef'],
  [9, 'abcdef'],
])('of six bytes at most %i', (max, kept) => expect(Buffer.from(headAndTail(Buffer.from('abcdef'), max)).toString()).toBe(kept))
