import { z } from 'zod'
import { pageOf } from './page.ts'

export const User = z
  .object({
    id: z.int(),
    email: z.string().nullable(),
    github_user_id: z.string(),
    github_username: z.string(),
    avatar_url: z.string().nullable(),
    full_name: z.string().nullable(),
    role: z.enum(['ADMIN', 'MANAGER', 'MEMBER', 'READER']).nullable(),
    is_admin: z.boolean(),
  })
  .meta({ id: 'UserResponse' })

export const UserPage = pageOf(User).meta({ id: 'PageOfUser' })
