import { z } from 'zod'
import { pageOf } from './page.ts'

export const Role = z.enum(['ADMIN', 'MANAGER', 'MEMBER', 'READER'])

export const User = z
  .object({
    id: z.int().describe('The user'),
    email: z.string().nullable().describe('Address, if one is known'),
    github_user_id: z.string().describe("GitHub's id as text; empty for a user of this service alone"),
    github_username: z.string().describe('Login name'),
    avatar_url: z.string().nullable().describe('Address of a picture'),
    full_name: z.string().nullable().describe('Name to show'),
    role: Role.nullable().describe('What the user may do in the organization'),
    is_admin: z.boolean().meta({ description: 'Whether `role` is ADMIN', deprecated: true }),
  })
  .meta({
    id: 'UserResponse',
    examples: [
      {
        ...{ id: 1, email: 'ada@example.org', github_user_id: '', github_username: 'ada', avatar_url: null },
        ...{ full_name: 'Ada Lovelace', role: 'ADMIN', is_admin: true },
      },
    ],
  })

export const UserPage = pageOf(User).meta({ id: 'PageOfUser' })
