/**
 * Searches variables, files, and the memory of every process that a command may read for the key of the
 * model. The pattern does not match itself.
 */
export const SEARCH = `cat >/tmp/search.cjs <<'END'
const { openSync, readFileSync, readSync, readdirSync } = require('node:fs')
const found = []
for (const pid of readdirSync('/proc').filter(name => /^[0-9]+$/.test(name))) {
  try {
    if (/[k]ey-of-the-model/.test(readFileSync('/proc/' + pid + '/environ', 'latin1'))) found.push(pid + ' environ')
    const memory = openSync('/proc/' + pid + '/mem', 'r')
    for (const [, from, to] of readFileSync('/proc/' + pid + '/maps', 'utf8').matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)) {
      const bytes = Buffer.alloc(Math.min(parseInt(to, 16) - parseInt(from, 16), 64 * 1024 * 1024))
      try { readSync(memory, bytes, 0, bytes.length, parseInt(from, 16)) } catch { continue }
      if (/[k]ey-of-the-model/.test(bytes.toString('latin1'))) found.push(pid + ' memory')
    }
    found.push('searched')
  } catch {}
}
console.log([...new Set(found)].join(' '))
END
node /tmp/search.cjs; grep -rlaE '[k]ey-of-the-model' /home /workspace /tmp /run /etc 2>/dev/null | wc -l`
