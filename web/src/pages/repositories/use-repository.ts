import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type Repository, repositoryQuery } from '../../api/queries.ts'

/** The repository of the address, inside its page: it is loaded before a tab is rendered. */
export function useRepository(): Repository {
  const { repoId } = useParams({ from: '/app/repositories/$repoId' })
  return useSuspenseQuery(repositoryQuery(Number(repoId))).data
}
