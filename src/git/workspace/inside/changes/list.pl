# Describes what has changed, and responds.
# More are left to git.
use constant { MAX_CHANGED => 1_000, MAX_NAMES => 10_000, MAX_BYTES => 1 << 20, MAX_REFS_BYTES => 1 << 20 };

# Returns commit and branch of the workspace, as read_head in checkpoint.sh does.
sub read_head {
  my $git = "$files/.git";
  my $line = -d $git && !-l $git ? first_line("$git/HEAD") : undef;
  return ('none', '') if !defined $line;
  return ($line =~ /^[0-9a-f]{40}$/ ? $line : 'none', '') if $line !~ m{^ref: (refs/heads/(.+))$} || $line =~ /\.\./;
  my ($ref, $branch) = ($1, $2);
  my $sha = first_line("$git/$ref") // packed_ref("$git/packed-refs", $ref);
  return ($sha =~ /^[0-9a-f]{40}$/ ? $sha : 'none', $branch);
}

sub first_line {
  my $file = open_file(@_) // return;
  my $length = sysread($file, my $bytes, 4096) // die "a reference cannot be read\n";
  my ($line) = split /\n/, $bytes, 2;
  die "an odd reference\n" if $length == 4096 || ($line // '') =~ /[\x00-\x1f\x7f]/;
  return $line // '';
}

sub packed_ref {
  my ($path, $ref) = @_;
  my $file = open_file($path) // return 'none';
  my $bytes = read_bytes($file, MAX_REFS_BYTES);
  return $bytes =~ /^([0-9a-f]{40}) \Q$ref\E$/m ? $1 : 'none';
}

# Undefined: there is no such file. A link may lead to a file of the kernel, which has no end.
sub open_file {
  my ($path) = @_;
  return if !-f $path || -l $path;
  sysopen(my $file, $path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) or die "a file cannot be read\n";
  -f $file or die "a file changes\n";
  return $file;
}

# Returns the content of an open file of at most that many bytes.
sub read_bytes {
  my ($file, $max) = @_;
  my $bytes = '';
  while ((my $read = sysread($file, $bytes, 65536, length $bytes) // die "a file cannot be read\n") > 0) {
    die "a large file\n" if length $bytes > $max;
  }
  return $bytes;
}

sub describe {
  my ($path, $mode, $room) = @_;
  return describe_folder($path, $mode) if S_ISDIR($mode);
  # For a removed name its folder has changed.
  return '' if is_removed($mode);
  return "I$path\0" if is_ignored($path, 0);
  return describe_content($path, '120000', readlink("$files/$path") // die "a link cannot be read\n") if S_ISLNK($mode);
  return "S$path\0" if !S_ISREG($mode);
  my $file = open_file("$files/$path") // die "a file changes\n";
  my $size = (stat $file)[7];
  die "many bytes\n" if $size > $room;
  my $content = read_bytes($file, $room);
  # It is being written.
  die "a file changes\n" if length $content != $size || (stat $file)[7] != $size;
  return describe_content($path, $mode & 0100 ? '100755' : '100644', $content);
}

sub describe_content {
  my ($path, $mode, $content) = @_;
  return "E$path\0$mode " . length($content) . "\0$content";
}

sub describe_folder {
  my ($path, $mode) = @_;
  # Git reports what is in it.
  die "a folder cannot be read\n" if ($mode & 0500) != 0500;
  opendir(my $folder, "$files/$path") or die "a folder cannot be read\n";
  my @names = grep { $_ ne '.' && $_ ne '..' } readdir $folder;
  die "a large folder\n" if @names > MAX_NAMES;
  return "F$path\0" . join('', map "$_\0", @names) . "\0";
}

sub list {
  my $problem;
  my ($changed, $ignored) = list_changes(\$problem);
  # Git examines what was listed, if it is not described.
  remember_listing();
  $problem //= 'many changes' if @$changed + @$ignored > MAX_CHANGED;
  die "$problem\n" if $problem;
  my ($head, $branch) = read_head();
  my $bytes = join '', map "D$_\0", @$ignored;
  for (@$changed) {
    $bytes .= describe(@$_, MAX_BYTES - length $bytes);
    die "many bytes\n" if length $bytes > MAX_BYTES;
  }
  return 'changes ' . length($bytes) . " $head $branch\n$bytes";
}

while (my $request = <STDIN>) {
  my $response = eval { list() };
  if (!defined $response) {
    ($response = "git $@") =~ tr/\n/ /;
    $response .= "\n";
    forget_rules();
  }
  print $response;
}
