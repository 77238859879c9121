import { expect, test } from 'vitest'
import { readResult } from './tool-result.ts'

test('nothing that a server names is cut before it is redacted: a type is shown whole or not at all', () => {
  const secret = 'kQ7wXz2mN9pLr4TskQ7wXz2m'
  const long = `image/${'x'.repeat(40)}${secret}`
  const { text } = readResult({
    content: [
      { type: 'image', mimeType: long, data: 'AAAA' },
      { type: 'audio', mimeType: long, data: 'AAAA' },
      { type: 'audio', mimeType: 'audio/ogg', data: 'AAAA' },
    ],
  })
  expect(text.split('\n')).toEqual([
    '[image, 3 bytes: left out, because its format is not accepted]',
    '[audio: left out]',
    '[audio audio/ogg: left out]',
  ])
})
