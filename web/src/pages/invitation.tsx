import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { session } from '../api/client.ts'
import type { Invitation } from '../api/session.ts'
import { Brand } from '../components/brand.tsx'
import { visible } from '../text/visible.ts'
import { Button } from '../ui/button.tsx'
import { Loading, Notice } from '../ui/notice.tsx'
import { readTabStorage, writeTabStorage } from '../ui/tab-storage.ts'

const messageOf = (error: unknown) => visible(error instanceof Error ? error.message : String(error))

/**
 * The code of an invitation while its person signs in. It must not be in the address of that page, which the
 * service receives.
 */
const STORED = 'invitation'

function codeOfInvitation(): string {
  const stored = readTabStorage(STORED)
  return new URLSearchParams(location.hash.slice(1)).get('code') ?? (typeof stored === 'string' ? stored : '')
}

/** Shows an invitation. It is accepted only when the person confirms it and chooses an account. */
export function InvitationPage() {
  const [code] = useState(codeOfInvitation)
  const invitation = useQuery({
    queryKey: ['invitation', code],
    queryFn: () => session.openInvitation(code),
    enabled: code !== '',
    retry: false,
  })
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <title>Invitation · Agent runs</title>
      <div className="w-full max-w-md">
        <div className="mb-5 flex items-center gap-2.5 text-lg font-semibold">
          <Brand size={26} /> Agent Run Service
        </div>
        <div className="space-y-4 rounded-xl border border-line bg-surface p-5">
          <h1 className="text-lg font-semibold">Invitation</h1>
          {code === '' && (
            <Notice tone="bad">
              This address has no invitation code. Open the complete link that you received.
            </Notice>
          )}
          {invitation.isLoading && <Loading label="Opening the invitation" />}
          {invitation.isError && <Notice tone="bad">{messageOf(invitation.error)}</Notice>}
          {invitation.data && <Acceptance code={code} invitation={invitation.data} />}
        </div>
      </div>
    </main>
  )
}

function Acceptance({ code, invitation }: { code: string; invitation: Invitation }) {
  const router = useRouter()
  const { organization_name, email, role, account } = invitation
  const accept = useMutation({
    mutationFn: (how: 'new' | 'signed_in') => session.acceptInvitation({ code, account: how }),
    onSuccess: () => {
      writeTabStorage(STORED, null)
      router.options.context.queries.clear()
      // The code is used up and must not stay in the history.
      router.history.replace('/')
    },
  })
  const name = account && visible(account.full_name ?? `user ${account.user_id}`)
  return (
    <>
      <p>
        You are invited to join <strong>{visible(organization_name)}</strong> as {role}, known there as{' '}
        {visible(email)}.
      </p>
      {accept.isError && <Notice tone="bad">{messageOf(accept.error)}</Notice>}
      {account && (
        <Button
          variant="primary"
          className="w-full"
          busy={accept.isPending}
          onClick={() => accept.mutate('signed_in')}
        >
          Join as {name}
        </Button>
      )}
      <Button
        variant={account ? 'quiet' : 'primary'}
        className="w-full"
        busy={accept.isPending}
        onClick={() => accept.mutate('new')}
      >
        {account ? 'Join with a new, separate account' : 'Create an account and join'}
      </Button>
      <p className="text-muted text-xs">
        {account
          ? 'A separate account signs you out of the current one in this browser.'
          : 'Already have an account?'}{' '}
        {!account && (
          <Link
            to="/sign-in"
            search={{ next: '/invitation' }}
            onClick={() => writeTabStorage(STORED, code)}
            className="text-accent underline"
          >
            Sign in and join with it
          </Link>
        )}
      </p>
    </>
  )
}
