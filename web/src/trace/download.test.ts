import { expect, test } from 'vitest'
import { artifactId } from './download.ts'

test.each([
  ['http://127.0.0.1:4600/v1/organizations/1/artifacts/42', 42],
  ['https://agents.example.org/base/v1/organizations/77/artifacts/1', 1],
  ['/v1/organizations/1/artifacts/42', 42],
  ['http://127.0.0.1:4600/v1/organizations/1/artifacts/42/more', null],
  ['http://127.0.0.1:4600/v1/organizations/1/artifacts/', null],
  ['javascript:alert(1)', null],
])('%s is the address of artifact %s', (url, id) => expect(artifactId(url)).toBe(id))
