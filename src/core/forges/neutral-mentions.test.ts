import { expect, test } from 'vitest'
import { neutralMentions } from './neutral-mentions.ts'

const J = '\u2060'

test.each([
  ['@ada', `@${J}ada`],
  ['Thanks @ada, @acme/reviewers and (@bob)!', `Thanks @${J}ada, @${J}acme/reviewers and (@${J}bob)!`],
  ['**@ada** _@bob_ [@eve](https://example.org)', `**@${J}ada** _@${J}bob_ [@${J}eve](https://example.org)`],
  ['- @ada\n> @bob\n# @eve', `- @${J}ada\n> @${J}bob\n# @${J}eve`],
  ['@@ada', `@@${J}ada`],
  ['one ` backtick @ada', `one \` backtick @${J}ada`],
  ['a `span` @ada `b`', `a \`span\` @${J}ada \`b\``],
  ['`open\n@ada `', `\`open\n@${J}ada \``],
  ['\\`@ada\\`', `\\\`@${J}ada\\\``],
  ['``` not a `fence` @ada', `\`\`\` not a \`fence\` @${J}ada`],
  ['```js\ncode\n```\n@ada', `\`\`\`js\ncode\n\`\`\`\n@${J}ada`],
  ['- a\n  ```\n@ada\n  ```', `- a\n  \`\`\`\n@${J}ada\n  \`\`\``],
  ['<div>\n```\n@ada\n```\n</div>', `<div>\n\`\`\`\n@${J}ada\n\`\`\`\n</div>`],
  ['<!--\n\n```\n-->\n@ada\n```', `<!--\n\n\`\`\`\n-->\n@${J}ada\n\`\`\``],
  ['| ` | @ada ` |', `| \` | @${J}ada \` |`],
  ['<a title="`">@ada</a>`', `<a title="\`">@${J}ada</a>\``],
  ['&#64;ada &commat;bob &#x40;eve', `&#64;${J}ada &commat;${J}bob &#x40;${J}eve`],
  [' ```\ncode\n```\n@ada', ` \`\`\`\ncode\n\`\`\`\n@${J}ada`],
  ['- a\n  ~~~\n- b\n~~~\ncode\n~~~\n@ada', `- a\n  ~~~\n- b\n~~~\ncode\n~~~\n@${J}ada`],
  ['[z](http://a.example/),@ada', `[z](http://a.example/),@${J}ada`],
  ['![i](https://a.example/i.png)@ada', `![i](https://a.example/i.png)@${J}ada`],
  ['é@ada x/@bob https://@eve', `é@${J}ada x/@${J}bob https://@${J}eve`],
])('no user is mentioned by %j', (text, expected) => {
  expect(neutralMentions(text)).toBe(expected)
})

test.each([
  'ada@example.org and mailto:ada@example.org',
  'https://example.org/@ada/post',
  'the `@ada` span, ``with ` and @bob`` too',
  '<!-- a comment -->\n```\n@ada\n```',
  '```\n@ada\n```',
  '~~~ts\nimport x from "@types/node"\n```\n@bob\n~~~',
  '```\nnever closed @ada',
  'fixes #12, see acme/app#3 and 100 @ 5',
  '',
])('%j stays as it is', text => {
  expect(neutralMentions(text)).toBe(text)
})

test('what reads as a package still does, and a text that went through it once does not change again', () => {
  const once = neutralMentions('uses @types/node')
  expect(once.replaceAll(J, '')).toBe('uses @types/node')
  expect(neutralMentions(once)).toBe(once)
})

test('a long hostile text takes one pass', () => {
  expect(neutralMentions('`@a '.repeat(50_001)).length).toBeGreaterThan(200_000)
  // With a pattern that goes back for each backtick, this takes minutes.
  expect(neutralMentions(`${'`'.repeat(400_000)}a\``)).toHaveLength(400_002)
})
