import Foundation
import HistoryChecking
import JSONCoding

/// The reliability tests, which observe a server from outside; `docs/operate/reliability.md`
/// describes what they show.
@main
enum Trials {
  static func main() {
    // A connection that breaks is an error of the call that finds out.
    signal(SIGPIPE, SIG_IGN)
    do {
      let words = CommandLine.arguments.dropFirst()
      if words.contains("--help") || words.contains("-h") { return say(usage) }
      switch words.first {
      case "crash": exit(try crash(words.dropFirst()) ? 0 : 1)
      case "disk": exit(try DiskTrial(words.dropFirst()).run() ? 0 : 1)
      case "soak": exit(try SoakTrial(SoakTrial.Options(words.dropFirst())).run() ? 0 : 1)
      case "overload":
        let options = try OverloadTrial.Options(words.dropFirst())
        exit(
          try options.hasAttacker
            ? AttackTrial(options).run() ? 0 : 1 : OverloadTrial(options).run() ? 0 : 1)
      case "check": exit(try check(words.dropFirst()) ? 0 : 1)
      case "help": say(usage)
      default:
        throw TrialError("name crash, disk, soak, overload or check; see --help")
      }
    } catch {
      say("trials: \(error)")
      exit(64)
    }
  }

  private static let usage = """
    trials crash     kills a server again and again under load, and checks its promises
      --engine sqlite|postgresql   the kind of store (default sqlite)
      --kills NUMBER, --minutes M  how often, or how long (default 100 times)
      --epoch NUMBER               lives of the server between two checks (default 20)
      --seed NUMBER                repeats the random choices of an earlier run
      --strike NAME                uses only this strike, by its name in the report
      --lying-disk, --damaged-file, --removal-taken-back
                                   breaks a promise on purpose: the run must find it
      --folder FOLDER              keeps all files there
      --report FILE                writes the figures as JSON
    trials disk      lets each of a server's first reads fail once
      --steps NUMBER               the number of reads (default 12)
    trials soak      uses a server at an even rate, and checks that its memory, files and delays stay the same
      --engine sqlite|postgresql   the kind of store (default sqlite)
      --minutes M, --seconds S     how long (default 5 minutes)
      --rate NUMBER                requests a second of each of eight devices (default 20)
      --seed NUMBER                repeats the random choices of an earlier run
      --untimed                    does not judge how long answers take
      --plot FILE, --report FILE   writes the figures over time as SVG, as JSON
    trials overload  sends twice the load that the server can answer, then holds its connections open
      --engine sqlite|postgresql   the kind of store (default sqlite)
      --minutes M, --seconds S     how long (default 2 minutes)
      --connections NUMBER         the greatest number of connections (default 12000)
      --attacker                   runs an attacker beside normal users instead (default 60 minutes)
      --modes TEXT                 the attacker does only what has this in its name: requests, bodies,
                                   uploads, log, streams
      --shapes TEXT                the attacker sends only requests with this in their name in the report
      --untimed                    does not judge how long answers take
    trials check HISTORY
                     checks a history that a run has kept again
    All accept --programs FOLDER: the folder of petrel (default: the folder of this program).
    """

  private static func crash(_ words: ArraySlice<String>) throws -> Bool {
    let options = try CrashOptions(words)
    say("crash test on \(options.engine.rawValue), seed \(options.seed)")
    let report = try CrashTrial(options).run()
    say(report.text)
    if let path = options.report {
      try report.json.text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    guard let sabotage = options.sabotage else { return report.violations.isEmpty }
    let isFound = report.violations.contains { $0.promise == sabotage.promise }
    say("\(sabotage.name) was \(isFound ? "" : "NOT ")found")
    return isFound
  }

  /// Checks again a history that a reliability test has kept.
  private static func check(_ words: ArraySlice<String>) throws -> Bool {
    guard let path = words.first else { throw TrialError("name the file of a history") }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw TrialError("'\(path)' cannot be read")
    }
    let decoder = JSONDecoder()
    let (count, violations): (Int, [Violation])
    if let history = try? decoder.decode(History.self, from: data) {
      (count, violations) = (history.count, HistoryChecker.violations(of: history))
    } else if let history = try? decoder.decode(SharingHistory.self, from: data) {
      (count, violations) = (history.count, SharingChecker.violations(of: history))
    } else {
      throw TrialError("'\(path)' is not a history of this program")
    }
    for violation in violations { say(violation) }
    say("\(count) events, \(violations.count) violations")
    return violations.isEmpty
  }
}

/// Prints a line at once, also where the output goes to a file.
func say(_ line: some CustomStringConvertible) {
  FileHandle.standardOutput.write(Data((line.description + "\n").utf8))
}
