# Objects of git. They are written as loose files into the shadow repository; what git has stored is read by a git that stays.
use strict;
use warnings;
use Compress::Raw::Zlib;
use Digest::SHA;
use Fcntl qw(:mode O_CREAT O_DIRECTORY O_EXCL O_NOFOLLOW O_NONBLOCK O_RDONLY O_WRONLY);

# The workspace, what its layer stores (or the workspace again), and the shadow repository.
our ($files, $changes, $shadow, $max_file_bytes) = @ARGV;
# A file that is larger is left to git, which reads it in parts.
use constant MAX_BYTES => 8 * 1024 ** 2;

# Starts a git that responds to one request after another.
sub start_git {
  pipe(my $request_out, my $request_in) or die "no pipe: $!\n";
  pipe(my $response_out, my $response_in) or die "no pipe: $!\n";
  my $pid = fork() // die "no process: $!\n";
  if (!$pid) {
    open(STDIN, '<&', $request_out) && open(STDOUT, '>&', $response_in) && open(STDERR, '>', '/dev/null') or exit 126;
    close $request_in;
    exec 'git', @_ or exit 127;
  }
  $request_in->autoflush(1);
  binmode $_ for $request_in, $response_out;
  return { pid => $pid, in => $request_in, out => $response_out };
}

sub end_git {
  my ($git) = @_;
  return if !$git;
  close $git->{in};
  close $git->{out};
  waitpid $git->{pid}, 0;
}

my $reader;

# Returns the bytes of an object that git has stored.
sub read_object {
  my ($sha) = @_;
  $reader //= start_git('cat-file', '--batch');
  print { $reader->{in} } "$sha\n";
  my $header = readline($reader->{out}) // die "git has ended\n";
  $header =~ /^[0-9a-f]{40} (?:tree|blob) (\d+)$/ or die "no object $sha\n";
  if ($1 > MAX_BYTES) {
    end_git($reader);
    $reader = undef;
    die "a large object\n";
  }
  my $length = read($reader->{out}, my $bytes, $1 + 1) // die "git has ended\n";
  $length == $1 + 1 or die "git has ended\n";
  chop $bytes;
  return $bytes;
}

# Stores an object and returns its name.
sub write_object {
  my ($type, $bytes) = @_;
  my $header = "$type " . length($bytes) . "\0";
  my $sha = Digest::SHA->new(1)->add($header, $bytes)->hexdigest;
  my $folder = "$shadow/objects/" . substr($sha, 0, 2);
  my $path = "$folder/" . substr($sha, 2);
  return $sha if -e $path;
  my $packed = compress_bytes($header, $bytes);
  mkdir $folder;
  my $fresh = "$folder/tmp_obj_$$";
  unlink $fresh;
  sysopen(my $file, $fresh, O_WRONLY | O_CREAT | O_EXCL, 0444) or die "an object cannot be written: $!\n";
  my $written = syswrite($file, $packed);
  defined $written && $written == length $packed && close $file or die "an object cannot be written\n";
  rename $fresh, $path or die "an object cannot be written: $!\n";
  note_fresh($sha, $type, $bytes) if $type ne 'commit';
  return $sha;
}

sub compress_bytes {
  my $deflater = Compress::Raw::Zlib::Deflate->new(-Level => 1, -AppendOutput => 1) // die "no compression\n";
  my $compressed = '';
  for (@_) { $deflater->deflate($_, $compressed) == Z_OK or die "no compression\n" }
  $deflater->flush($compressed) == Z_OK or die "no compression\n";
  return $compressed;
}

# Stores what a path of the workspace has. Returns its mode and name as in a tree, or nothing when it has gone.
sub write_file {
  my ($path) = @_;
  my @stat = lstat "$files/$path" or return;
  my ($mode, $size) = @stat[2, 7];
  if (S_ISLNK($mode)) {
    my $target = readlink "$files/$path";
    return defined $target ? ['120000', write_object('blob', $target)] : die "a link has changed\n";
  }
  S_ISREG($mode) or die "neither a file nor a link\n";
  die "a large file\n" if $size > $max_file_bytes || $size > MAX_BYTES;
  sysopen(my $file, "$files/$path", O_RDONLY | O_NOFOLLOW | O_NONBLOCK) or die "a file cannot be read: $!\n";
  my ($bytes, $length) = ('', 0);
  while ($length < $size) {
    my $read = sysread($file, $bytes, $size - $length, $length) // die "a file cannot be read: $!\n";
    $read or die "a file has shrunk\n";
    $length += $read;
  }
  return [$mode & 0100 ? '100755' : '100644', write_object('blob', $bytes)];
}
