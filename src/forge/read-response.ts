import { z } from 'zod'
import { ForgeError } from './port.ts'
import { shown } from './texts.ts'

/**
 * Returns the used part of a response by its schema. ForgeError `answer` names the forge and the field that
 * cannot be read.
 */
export function readResponse<S extends z.ZodType>(
  forge: 'GitHub' | 'Gitea',
  shape: S,
  data: unknown,
): z.output<S> {
  const parsed = shape.safeParse(data)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue === undefined || issue.path.length === 0 ? 'it' : z.core.toDotPath(issue.path)
  throw new ForgeError(
    'answer',
    `${forge}'s response cannot be read: ${shown(field)}: ${issue?.message ?? 'it is not JSON'}`,
  )
}
