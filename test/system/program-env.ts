import { fileURLToPath } from 'node:url'

/**
 * All that a program of ours gets of this process's environment: a PATH, and the compile cache of Node, as
 * the launcher sets it. Without that a start of the service costs twice the processor time.
 */
export const program_env = {
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE:
    process.env.NODE_COMPILE_CACHE ??
    fileURLToPath(new URL('../../node_modules/.compile-cache', import.meta.url)),
}
