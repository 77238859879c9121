import { expect, test } from 'vitest'
import { nameIn, template } from './skill-text.ts'

test.each([
  ['---\nname: release\ndescription: Publishes.\n---\nText', 'release'],
  ['---\r\ndescription: x\r\nname: "release"\r\n---\r\nText', 'release'],
  ["---\nname: 'release'", 'release'],
  ['---\ndescription: x\n---\nname: release', null],
  ['name: release', null],
  [template, null],
  ['', null],
])('the name of a skill is the one in its front matter: %j has %j', (content, name) => {
  expect(nameIn(content)).toBe(name)
})
