import { useRouter } from '@tanstack/react-router'
import { session } from '../../api/client.ts'
import { dropDrafts } from '../../ui/draft.ts'

/** Ends the session of this browser, and removes what the person typed. */
export function useSignOut(): () => Promise<void> {
  const router = useRouter()
  return async () => {
    await session.signOut()
    dropDrafts()
    router.options.context.queries.clear()
    await router.navigate({ to: '/sign-in', search: {} })
  }
}
