/** The variables that determine an address, with their values. */
type ListenAddress = { host_variable: string; host: string; port_variable: string; port: number }

/**
 * Returns an error whose message is one sentence: why the address cannot be listened on, and what to do.
 * Others are returned as they are.
 */
export function explainListenError(
  error: unknown,
  { host_variable, host, port_variable, port }: ListenAddress,
): unknown {
  const { code } = error as NodeJS.ErrnoException
  const at = `${host_variable} ${host}, ${port_variable} ${port}`
  if (code === 'EADDRINUSE')
    return new Error(
      `${at}: another program uses this port (${code}): end it, or set ${port_variable} to another port`,
      { cause: error },
    )
  if (code === 'EACCES')
    return new Error(
      `${at}: this user may not use the port (${code}): set ${port_variable} to a port from 1024 on`,
      { cause: error },
    )
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'ENOTFOUND')
    return new Error(
      `${at}: this machine has no such address (${code}): set ${host_variable} to one of its own, ::1 or :: with IPv6 alone`,
      {
        cause: error,
      },
    )
  return error
}
