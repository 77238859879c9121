/**
 * Loaded into a service by `--import`: on SIGUSR2 a timer throws and a promise is rejected, as a defect
 * anywhere in it would do.
 */
process.on('SIGUSR2', () => {
  setTimeout(() => {
    throw new Error('thrown by a timer')
  })
  void Promise.reject(new Error('rejected in the background'))
})
