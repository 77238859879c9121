import { compiledSignatures } from './compiled.ts'
import { gitSignatures } from './git.ts'
import { networkSignatures } from './network.ts'
import { nodeSignatures } from './node.ts'
import { pythonSignatures } from './python.ts'
import { scriptingSignatures } from './scripting.ts'
import type { Signature } from './signature.ts'
import { systemSignatures } from './system.ts'
import { uncaughtErrors } from './uncaught.ts'

const all = [
  ...networkSignatures,
  ...gitSignatures,
  ...pythonSignatures,
  ...nodeSignatures,
  ...compiledSignatures,
  ...scriptingSignatures,
  ...systemSignatures,
  ...uncaughtErrors,
]

/** The first match decides: general ones come last. */
export const signatures: readonly Signature[] = [...all.filter(({ general }) => !general), ...all.filter(({ general }) => general)]
