import { afterAll, describe } from 'vitest'

/** Every guarantee of a sandbox holds for one whose workspace is a layer on a template. */
process.env.SANDBOX_TEST_LAYERED = '1'
// The next file in this process has plain ones.
afterAll(() => {
  delete process.env.SANDBOX_TEST_LAYERED
})
for (const name of [
  'commands',
  'files',
  'freezes.long',
  'hostile',
  'isolation',
  'lifecycle',
  'limits',
  'sockets',
  'workspaces',
]) {
  describe(`in a layer: ${name}`, async () => {
    await import(`./${name}.test.ts`)
  })
}
