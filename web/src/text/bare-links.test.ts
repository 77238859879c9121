import { expect, test } from 'vitest'
import { bareLinks } from './bare-links.ts'

const linksIn = (text: string) =>
  bareLinks(text)
    .filter(({ link }) => link)
    .map(part => part.text)

test('addresses in a text are links, without the punctuation around them', () => {
  expect(
    linksIn('See https://example.com/a?b=1#c. Or (http://localhost:4600/docs), or "https://example.com/x"!'),
  ).toEqual(['https://example.com/a?b=1#c', 'http://localhost:4600/docs', 'https://example.com/x'])
  expect(linksIn('https://example.com/wiki/A_(b)')).toEqual(['https://example.com/wiki/A_(b)'])
})

test('the parts together are the text, and other schemes are not links', () => {
  for (const text of [
    '',
    'plain',
    'a https://b.example, c',
    'javascript:alert(1) data:text/html,x https:// http://',
    'xhttp://a',
  ])
    expect(
      bareLinks(text)
        .map(part => part.text)
        .join(''),
    ).toBe(text)
  expect(linksIn('javascript:alert(1) data:text/html,x https:// http:// xhttp://a')).toEqual([])
})
