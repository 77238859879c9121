/** The access tokens of a sign-in. Rejects with McpError when nobody is signed in. */
export type AccessTokens = {
  /** The only address that receives them. */
  url(): Promise<string>
  /** Returns a token that is valid now. */
  current(): Promise<string>
  /** Renews the token that the server has rejected. */
  replace(rejected: string | null): Promise<void>
}
