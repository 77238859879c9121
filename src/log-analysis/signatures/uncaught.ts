import type { Signature } from './signature.ts'

/** Errors without a better explanation than their own text: after all specific ones. */
export const uncaughtErrors: readonly Signature[] = [
  {
    code: 'node_uncaught',
    pattern:
      /^(?:Uncaught )?((?:Type|Reference|Range|URI|Eval)Error|Error|AggregateError|AssertionError(?= \[ERR_|: expected ))(?: \[(\w{1,60})\])?: (.{1,300})/,
    title: 'JavaScript threw an error',
    cause: '$1 $2: $3',
    remedy: 'Go to the first location in the stack below it that is a file of the repository.',
    in_tests: true,
    general: true,
  },
  {
    code: 'python_uncaught',
    pattern:
      /^(?:E {1,6})?(?!(?:org|com|net|io|java|javax|jakarta|kotlin|scala)\.)((?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Warning)): (.{1,300})/,
    title: 'Python raised an error',
    cause: '$1: $2',
    remedy: 'Go to the last location in the traceback above it that is a file of the repository.',
    in_tests: true,
    general: true,
  },
  {
    code: 'java_uncaught',
    pattern:
      /^(?:Exception in thread "[^"]{1,100}" |Caused by: |(?=(?:org|com|net|io|java|javax|jakarta|kotlin|scala)\.\S{1,200}(?:Error|Exception): ))((?:[a-z][\w$]{0,60}\.){1,10}[A-Z][\w$]{0,100}): ?(.{0,300})/,
    title: 'Java threw an exception',
    cause: '$1: $2',
    remedy: 'Go to the first location in the stack below the last `Caused by` that is a file of the repository.',
    in_tests: true,
    general: true,
  },
  {
    code: 'ruby_uncaught',
    pattern: /^(\S{1,200}\.rb:\d{1,7}):in [`'].{1,200}?': (.{1,200}) \(([A-Z][\w:]{1,80})\)$/,
    title: 'Ruby raised an error',
    cause: '$3: $2',
    remedy: 'Go to $1.',
    in_tests: true,
    general: true,
  },
]
