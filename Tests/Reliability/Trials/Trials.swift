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
        throw TrialError("which trial? There are crash, disk, soak, overload and check; see --help")
      }
    } catch {
      say("trials: \(error)")
      exit(64)
    }
  }

  private static let usage = """
    trials crash     kills a server again and again under load, and checks what it promises
      --engine sqlite|postgresql   its store (default sqlite)
      --kills NUMBER, --minutes M  how often, or how long (default 100 times)
      --epoch NUMBER               lives of the server between two checks (default 20)
      --seed NUMBER                chooses as an earlier trial did
      --strike NAME                strikes in this way alone, by its name in the report
      --lying-disk, --damaged-file breaks a promise on purpose: the trial must find it
      --folder FOLDER              keeps everything there
      --report FILE                writes the figures as JSON
    trials disk      lets each of a server's first reads fail once
      --steps NUMBER               of how many reads (default 12)
    trials soak      uses a server evenly, and looks whether what it takes stays as it was
      --engine sqlite|postgresql   its store (default sqlite)
      --minutes M, --seconds S     how long (default 5 minutes)
      --rate NUMBER                requests a second of each of eight devices (default 20)
      --seed NUMBER                chooses as an earlier trial did
      --untimed                    does not judge how long answers take
      --plot FILE, --report FILE   writes the figures over time as SVG, as JSON
    trials overload  asks for twice what the server can do, and holds its connections up
      --engine sqlite|postgresql   its store (default sqlite)
      --minutes M, --seconds S     how long (default 2 minutes)
      --connections NUMBER         over how many connections at most (default 12000)
      --attacker                   lets one who holds it up at it beside normal users (default 60 minutes)
      --shapes TEXT                who asks only for what has this in its name in the report
      --untimed                    does not judge how long answers take
    trials check HISTORY
                     checks a history again that a trial kept
    All take --programs FOLDER: where petrel lies (default: beside this program).
    """

  private static func crash(_ words: ArraySlice<String>) throws -> Bool {
    let options = try CrashOptions(words)
    say("crash trial on \(options.engine.rawValue), seed \(options.seed)")
    let report = try CrashTrial(options).run()
    say(report.text)
    if let path = options.report {
      try report.json.text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    guard let sabotage = options.sabotage else { return report.violations.isEmpty }
    let isFound = report.violations.contains { $0.promise == sabotage.promise }
    say("\(sabotage.name) was \(isFound ? "" : "NOT ")found out")
    return isFound
  }

  /// Checks again a history that a reliability test has kept.
  private static func check(_ words: ArraySlice<String>) throws -> Bool {
    guard let path = words.first else { throw TrialError("which history?") }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw TrialError("'\(path)' cannot be read")
    }
    let history: History
    do {
      history = try JSONDecoder().decode(History.self, from: data)
    } catch {
      throw TrialError("'\(path)' is no history that a trial kept")
    }
    let violations = HistoryChecker.violations(of: history)
    for violation in violations { say(violation) }
    say("\(history.count) events, \(violations.count) violations")
    return violations.isEmpty
  }
}

/// Prints a line at once, also where the output goes to a file.
func say(_ line: some CustomStringConvertible) {
  FileHandle.standardOutput.write(Data((line.description + "\n").utf8))
}
