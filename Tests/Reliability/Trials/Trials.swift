import Foundation
import HistoryChecking
import JSONCoding

/// Trials of a server from outside; `docs/reliability.md` tells what they show.
@main
enum Trials {
  static func main() {
    // A connection that breaks is an error of the call that finds out.
    signal(SIGPIPE, SIG_IGN)
    do {
      let words = CommandLine.arguments.dropFirst()
      switch words.first {
      case "crash": exit(try crash(words.dropFirst()) ? 0 : 1)
      case "soak": exit(try SoakTrial(SoakTrial.Options(words.dropFirst())).run() ? 0 : 1)
      case "overload":
        exit(try OverloadTrial(OverloadTrial.Options(words.dropFirst())).run() ? 0 : 1)
      case "check": exit(try check(words.dropFirst()) ? 0 : 1)
      default:
        throw TrialError("usage: trials crash|soak|overload [OPTION…] | trials check HISTORY")
      }
    } catch {
      say("trials: \(error)")
      exit(64)
    }
  }

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

  /// Checks a history again that a trial kept.
  private static func check(_ words: ArraySlice<String>) throws -> Bool {
    guard let path = words.first else { throw TrialError("which history?") }
    let history = try JSONDecoder().decode(
      History.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
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
