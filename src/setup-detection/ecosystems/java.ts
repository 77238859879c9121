import type { Part, Suggestion, Tool, Toolchain } from '../proposal.ts'
import { MAVEN_REPOSITORY } from '../toolchain.ts'
import type { Project } from '../tree.ts'

/**
 * The plugin that runs tests downloads their runner only when it runs: a nonexistent test triggers the
 * download.
 */
const NO_TEST = '-Dtest=NoTestAtAll -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false'

const OF_MAVEN_AND_GRADLE = [
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'settings.gradle',
  'settings.gradle.kts',
]
const MANIFESTS = [...OF_MAVEN_AND_GRADLE, 'build.xml']

const LOCKFILES = [
  ...OF_MAVEN_AND_GRADLE,
  'gradle.lockfile',
  'gradle/libs.versions.toml',
  'gradle/wrapper/gradle-wrapper.properties',
  '.mvn/wrapper/maven-wrapper.properties',
  'build.xml',
]

/** What the part of a project has with each build tool. */
type Java = {
  project: Project
  manifest: string
  has_tests: boolean
  suggest(command: string, why: string): Suggestion
  /** A program that the manifest requires. */
  tool(binary: string, debian_package: string, wanted?: string | null): Tool
  common: Pick<Part, 'ecosystem' | 'folder' | 'smokes' | 'notes' | 'lockfiles'>
}

/** Returns null when it is not a Java project with Maven, Gradle or Ant. */
export function javaPart(project: Project, toolchain: Toolchain): Part | null {
  const manifest = project.first(...MANIFESTS)
  if (manifest === null) return null
  const from = project.at(manifest)
  const java: Java = {
    project,
    manifest,
    has_tests: project.some(/(?:^|\/)src\/(?:test|androidTest)\//),
    suggest: (command, why) => ({ command, from, why }),
    tool: (binary, debian_package, wanted = null) => ({ binary, wanted, from, package: debian_package }),
    common: {
      ecosystem: 'java',
      folder: project.folder,
      smokes: [],
      notes: [],
      lockfiles: LOCKFILES.filter(project.has).map(project.at),
    },
  }
  if (manifest === 'pom.xml') return mavenPart(java, toolchain)
  return manifest === 'build.xml' ? antPart(java) : gradlePart(java, toolchain)
}

function mavenPart(java: Java, toolchain: Toolchain): Part {
  const { project, suggest, has_tests } = java
  const wrapped = project.has('mvnw')
  const mvn = `${wrapped ? 'sh ./mvnw' : 'mvn'} -B -ntp`
  return {
    ...java.common,
    install: [suggest(`${mvn} test ${NO_TEST}`, 'compiles all of it and brings what its tests need')],
    tests: has_tests ? [suggest(`${mvn} -o test`, 'its tests')] : [],
    builds: [suggest(`${mvn} -o test-compile`, 'all of it compiles')],
    tools: [jdk(java), ...(wrapped ? [] : [java.tool('mvn', 'maven')])],
    ...(toolchain.has('mvn') &&
      toolchain.has(MAVEN_REPOSITORY) && { offline: withDebians(suggest, has_tests) }),
  }
}

function antPart(java: Java): Part {
  const { project, suggest, manifest } = java
  const test = ['test', 'check', 'junit'].find(name =>
    new RegExp(`<target\\s[^>]{0,200}name="${name}"`).test(project.text(manifest) ?? ''),
  )
  return {
    ...java.common,
    install: [],
    tests: test === undefined ? [] : [suggest(`ant ${test}`, `the target ${test}`)],
    builds: [suggest('ant', 'what it makes by default')],
    tools: [jdk(java), java.tool('ant', 'ant')],
  }
}

function gradlePart(java: Java, toolchain: Toolchain): Part {
  const { project, suggest, has_tests } = java
  // Some repositories omit its archive, and then the script fails.
  const wrapped = project.has('gradlew') && project.has('gradle/wrapper/gradle-wrapper.jar')
  const gradle = `${wrapped ? 'sh ./gradlew' : 'gradle'} --no-daemon`
  return {
    ...java.common,
    install: [suggest(`${gradle} testClasses`, 'compiles all of it and brings what its tests need')],
    tests: has_tests ? [suggest(`${gradle} --offline test`, 'its tests')] : [],
    builds: [suggest(`${gradle} --offline assemble`, 'all of it')],
    tools: [jdk(java), ...(wrapped ? [] : [java.tool('gradle', 'gradle')])],
    // The wrapper would download the version of Gradle that it names.
    ...(wrapped && toolchain.has('gradle') && { offline: withOwnGradle(suggest, has_tests) }),
  }
}

const jdk = ({ project, manifest, tool }: Java) => tool('java', 'default-jdk', versionOf(project, manifest))

/** With the plugins and libraries of Debian. */
function withDebians(
  suggest: (command: string, why: string) => Suggestion,
  has_tests: boolean,
): Part['offline'] {
  const mvn = `mvn -B -ntp -o -Dmaven.repo.local=${MAVEN_REPOSITORY}`
  return {
    install: [suggest(`${mvn} test-compile`, "all of it compiles, with Debian's libraries")],
    tests: has_tests ? [suggest(`${mvn} test`, 'its tests')] : [],
    builds: [suggest(`${mvn} test-compile`, 'all of it compiles')],
    smokes: [],
  }
}

function withOwnGradle(
  suggest: (command: string, why: string) => Suggestion,
  has_tests: boolean,
): Part['offline'] {
  const gradle = 'gradle --no-daemon --offline'
  return {
    install: [suggest(`${gradle} testClasses`, "compiles all of it, with the machine's Gradle")],
    tests: has_tests ? [suggest(`${gradle} test`, 'its tests')] : [],
    builds: [suggest(`${gradle} assemble`, 'all of it')],
    smokes: [],
  }
}

function versionOf(project: Project, manifest: string): string | null {
  const text = project.text(manifest) ?? ''
  return (
    /<(?:maven\.compiler\.(?:release|source)|java\.version|release)>\s*([\d.]{1,8})\s*</.exec(text)?.[1] ??
    /JavaLanguageVersion\.of\((\d{1,3})\)/.exec(text)?.[1] ??
    null
  )
}
