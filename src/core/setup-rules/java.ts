import type { Part, Said } from './proposal.ts'
import type { Project } from './tree.ts'

/** The plugin that runs tests brings what runs them only when it runs: a test that is not there has it brought. */
const NO_TEST = '-Dtest=NoTestAtAll -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false'

/** Null: it is no project of Java that Maven, Gradle or Ant builds. */
export function javaPart(project: Project): Part | null {
  const manifest = project.first('pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'build.xml')
  if (manifest === null) return null
  const from = project.at(manifest)
  const said = (command: string, why: string): Said => ({ command, from, why })
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
      install: [said(`${mvn} test ${NO_TEST}`, 'compiles all of it and brings what its tests need')],
      tests: has_tests ? [said(`${mvn} -o test`, 'its tests')] : [],
      builds: [said(`${mvn} -o test-compile`, 'all of it compiles')],
      tools: [java, ...(wrapped ? [] : [{ binary: 'mvn', wanted: null, from, package: 'maven' }])],
    }
  }
  if (manifest === 'build.xml')
    return {
      ...{ ...named, lockfiles },
      install: [],
      tests: has_tests ? [said('ant test', 'its tests')] : [],
      builds: [said('ant', 'what it makes by default')],
      tools: [java, { binary: 'ant', wanted: null, from, package: 'ant' }],
    }
  const wrapped = project.has('gradlew')
  const gradle = `${wrapped ? 'sh ./gradlew' : 'gradle'} --no-daemon`
  return {
    ...{ ...named, lockfiles },
    install: [said(`${gradle} testClasses`, 'compiles all of it and brings what its tests need')],
    tests: has_tests ? [said(`${gradle} --offline test`, 'its tests')] : [],
    builds: [said(`${gradle} --offline assemble`, 'all of it')],
    tools: [java, ...(wrapped ? [] : [{ binary: 'gradle', wanted: null, from, package: 'gradle' }])],
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
