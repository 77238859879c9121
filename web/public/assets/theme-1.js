// Runs before the first paint, so that a chosen theme does not flash. A file of its own: the policy allows no inline script.
// It is cached for ever: a change needs a new name.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is switched off: the system's theme is used.
}
