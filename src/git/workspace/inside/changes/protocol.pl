# Lists what has changed in a workspace. Standard input has one request per line:
#
#   list
#
# The response is "changes BYTES HEAD BRANCH" and that many bytes, or "git REASON": git has to examine all files now. The bytes are, each path
# with a zero byte behind it:
#
#   F PATH, NAME..., ""       a folder in which a name was added or removed, and all names in it
#   E PATH, "MODE SIZE", CONTENT   a file or a link; MODE is that of git
#   S PATH                    something that git does not keep: a pipe, a socket, a device
#   I PATH                    a file that is ignored
#   D PATH                    a folder that is ignored, whether it has changed or not
use strict;
use warnings;
use Fcntl ':mode', qw(O_RDONLY O_NONBLOCK O_NOFOLLOW);
my ($files, $changes) = @ARGV;
$| = 1;
binmode $_ for *STDIN, *STDOUT;
local $SIG{PIPE} = 'IGNORE';
