import { expect, test } from 'vitest'
import { importsOf } from './source-tree.ts'

test('imports are read correctly: types apart from code, and none from comments and quoted sources', () => {
  const text = [
    "import type { A } from '../store/a.ts'",
    "import { type B, type C } from './b.ts'",
    "import { type D, e } from './d.ts'",
    "import f, { type G } from '@scope/name/deep'",
    "import './side.ts'",
    "export * from './star.ts'",
    "export type { H } from './h.ts'",
    "// import { x } from './comment.ts'",
    'const quoted = `',
    "import { y } from './quoted.ts'",
    '`',
    "const lazy = () => import('./lazy.ts')",
  ].join('\n')
  expect(importsOf('src/live/x.ts', text)).toEqual([
    { target: 'src/store/a.ts', types: true, from_package: false },
    { target: 'src/live/b.ts', types: true, from_package: false },
    { target: 'src/live/d.ts', types: false, from_package: false },
    { target: '@scope/name', types: false, from_package: true },
    { target: 'src/live/star.ts', types: false, from_package: false },
    { target: 'src/live/h.ts', types: true, from_package: false },
    { target: 'src/live/side.ts', types: false, from_package: false },
    { target: 'src/live/lazy.ts', types: false, from_package: false },
  ])
})
