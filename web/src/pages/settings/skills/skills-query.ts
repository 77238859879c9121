import { queryOptions } from '@tanstack/react-query'
import type { Result } from '../../../../../src/contract/calls.ts'
import { allItems } from '../../../api/all-items.ts'
import { call } from '../../../api/client.ts'

export type Skill = Result<'listSkills'>['items'][number]

export const skillsQuery = queryOptions({
  queryKey: ['skills'],
  queryFn: ({ signal }) => allItems(skip => call('listSkills', { query: { limit: 100, skip }, signal })),
})

export const skillQuery = (skill: string) =>
  queryOptions({
    queryKey: ['skill', skill],
    queryFn: ({ signal }) => call('getSkill', { params: { skill }, signal }),
    staleTime: 0,
  })
