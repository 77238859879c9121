import type { Signature } from './signature.ts'

/** Ruby, PHP, Perl and similar languages. */
export const scriptingSignatures: readonly Signature[] = [
  {
    code: 'ruby_gem_missing',
    pattern:
      /Could not find (?:gem ['"]?)?([\w.-]{1,100}(?:-[\d.]{1,20})?)['"]? in (?:an[y] of the sources|locally installed gems|rubygems repository|cached gems)|Bundler::GemNotFound|cannot load such file -- (\S{1,200})|can't find gem (\S{1,100})/,
    title: 'A Ruby gem or file is not found',
    cause: '`$1$2$3` is not installed here.',
    remedy: '`bundle install`, then run it by `bundle exec`. A file of its own: check the load path.',
  },
  {
    code: 'ruby_no_gemfile',
    pattern: /Could not locate Gemfile/,
    title: 'There is no Gemfile',
    cause: 'The command ran in a folder without one.',
    remedy: 'Change to the folder of the project first.',
  },
  {
    code: 'ruby_version',
    pattern:
      /Your Ruby version is ([\d.]{1,20}), but your Gemfile specified (\S{1,20})|requires (?:r|R)uby version (.{1,60})|You must use Bundler (\S{1,20}) or greater/,
    title: 'It wants another Ruby',
    cause: 'The Gemfile or a gem does not allow this version: $1 $2$3',
    remedy: 'Use a Ruby that it allows, or change the `ruby` line of the Gemfile.',
  },
  {
    code: 'ruby_native_gem',
    pattern: /Failed to build gem native extension/,
    title: 'A gem cannot be built',
    cause: 'A gem is compiled here and lacks a compiler, Ruby headers, or a library.',
    remedy: 'What is printed below names it; use a sandbox that has it, or a version of the gem with a binary.',
    general: true,
  },
  {
    code: 'ruby_syntax',
    pattern: /^(\S{1,200}\.rb:\d{1,7}): syntax errors? ?(.{0,200})/,
    title: 'A Ruby file is not valid',
    cause: '$2',
    remedy: 'Correct it at $1.',
  },
  {
    code: 'php_requirements',
    pattern:
      /Your requirements could not be resolved to an installable set|requires (ext-\w{1,40}) \* (?:but|->)|The (\w{1,40}) (?:OR \w{1,40} )?extension is required|Root composer\.json requires (\S{1,100}) .{0,60}(?:could not be found|but)|Your lock file does not contain a compatible set/,
    title: 'Composer cannot resolve the dependencies',
    cause: 'Packages, PHP or its extensions do not go together: $1$2',
    remedy: 'The problems below name them. An extension has to be in the sandbox.',
  },
  {
    code: 'php_autoload',
    pattern:
      /vendor\/autoload\.php.{0,60}(?:No such file|Failed to open)|PHP Fatal error: {1,2}Uncaught Error: Class ["']([^"']{1,200})["'] not found/,
    title: 'A PHP class is not found',
    cause: 'The dependencies are not installed, or `$1` is not loaded.',
    remedy: '`composer install`; for a class of its own check `autoload` in composer.json.',
  },
  {
    code: 'php_fatal',
    pattern: /^(?:PHP )?(?:Fatal|Parse) error: {1,2}(.{1,300})/,
    title: 'PHP stopped',
    cause: '$1',
    remedy: 'Correct it at the file and line that it names.',
  },
  {
    code: 'perl_module_missing',
    pattern: /Can't locate (\S{1,200}\.pm) in @INC/,
    title: 'A Perl module is not found',
    cause: '`$1` is not installed here.',
    remedy: 'Install it (`cpanm`), or use a sandbox with its package.',
  },
]
