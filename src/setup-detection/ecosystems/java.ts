import type { Part, Suggestion, Toolchain } from '../proposal.ts'
import { MAVEN_REPOSITORY } from '../toolchain.ts'
import type { Project } from '../tree.ts'

/** The plugin that runs tests downloads their runner only when it runs: a nonexistent test triggers the download. */
const NO_TEST = '-Dtest=NoTestAtAll -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false'

/** Returns null when it is not a Java project with Maven, Gradle or Ant. */
export function javaPart(project: Project, toolchain: Toolchain): Part | null {
  const manifest = project.first('pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'build.xml')
  if (manifest === null) return null
  const from = project.at(manifest)
  const suggest = (command: string, why: string): Suggestion => ({ command, from, why })
  const has_tests = project.some(/(?:^|\/)src\/(?:test|androidTest)\//)
  const java = { binary: 'java', wanted: versionOf(project, manifest), from, package: 'default-jdk' }
  const named = { ecosystem: 'java', folder: project.folder, smokes: [], notes: [] }
  const lockfiles = [
    'pom.xml',
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'settings.gradle.kts',
    'gradle.lockfile',
    'gradle/libs.versions.toml',
    'gradle/wrapper/gradle-wrapper.properties',
    '.mvn/wrapper/maven-wrapper.properties',
    'build.xml',
  ]
    .filter(project.has)
    .map(project.at)
  if (manifest === 'pom.xml') {
    const wrapped = project.has('mvnw')
    const mvn = `${wrapped ? 'sh ./mvnw' : 'mvn'} -B -ntp`
    return {
      ...{ ...named, lockfiles },
      install: [suggest(`${mvn} test ${NO_TEST}`, 'compiles all of it and brings what its tests need')],
      tests: has_tests ? [suggest(`${mvn} -o test`, 'its tests')] : [],
      builds: [suggest(`${mvn} -o test-compile`, 'all of it compiles')],
      tools: [java, ...(wrapped ? [] : [{ binary: 'mvn', wanted: null, from, package: 'maven' }])],
      ...(toolchain.has('mvn') && toolchain.has(MAVEN_REPOSITORY) && { offline: withDebians(suggest, has_tests) }),
    }
  }
  if (manifest === 'build.xml') {
    const test = ['test', 'check', 'junit'].find(name =>
      new RegExp(`<target\\s[^>]{0,200}name="${name}"`).test(project.text(manifest) ?? ''),
    )
    return {
      ...{ ...named, lockfiles },
      install: [],
      tests: test === undefined ? [] : [suggest(`ant ${test}`, `the target ${test}`)],
      builds: [suggest('ant', 'what it makes by default')],
      tools: [java, { binary: 'ant', wanted: null, from, package: 'ant' }],
    }
  }
  // Some repositories omit its archive, and then the script fails.
  const wrapped = project.has('gradlew') && project.has('gradle/wrapper/gradle-wrapper.jar')
  const gradle = `${wrapped ? 'sh ./gradlew' : 'gradle'} --no-daemon`
  return {
    ...{ ...named, lockfiles },
    install: [suggest(`${gradle} testClasses`, 'compiles all of it and brings what its tests need')],
    tests: has_tests ? [suggest(`${gradle} --offline test`, 'its tests')] : [],
    builds: [suggest(`${gradle} --offline assemble`, 'all of it')],
    tools: [java, ...(wrapped ? [] : [{ binary: 'gradle', wanted: null, from, package: 'gradle' }])],
    // The wrapper would download the version of Gradle that it names.
    ...(wrapped && toolchain.has('gradle') && { offline: withOwnGradle(suggest, has_tests) }),
  }
}

/** With the plugins and libraries of Debian. */
function withDebians(suggest: (command: string, why: string) => Suggestion, has_tests: boolean): Part['offline'] {
  const mvn = `mvn -B -ntp -o -Dmaven.repo.local=${MAVEN_REPOSITORY}`
  return {
    install: [suggest(`${mvn} test-compile`, "all of it compiles, with Debian's libraries")],
    tests: has_tests ? [suggest(`${mvn} test`, 'its tests')] : [],
    ...{ builds: [suggest(`${mvn} test-compile`, 'all of it compiles')], smokes: [] },
  }
}

function withOwnGradle(suggest: (command: string, why: string) => Suggestion, has_tests: boolean): Part['offline'] {
  const gradle = 'gradle --no-daemon --offline'
  return {
    install: [suggest(`${gradle} testClasses`, "compiles all of it, with the machine's Gradle")],
    tests: has_tests ? [suggest(`${gradle} test`, 'its tests')] : [],
    ...{ builds: [suggest(`${gradle} assemble`, 'all of it')], smokes: [] },
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
