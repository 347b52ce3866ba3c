import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// The project's scripts that make a workload of subscriptions and events, and run it elsewhere.
struct MatchingScripts {
  struct Reading {
    /// A second.
    var events: Double
    /// Shares of the expected matches, and of those that were found.
    var missing: Double
    var extra: Double
  }

  var directory: String
  var python: String

  /// Makes the files of a workload, the same each time.
  func makeWorkload(_ subscriptions: Int, in target: String) throws {
    let generator = ["--subscriptions", "\(subscriptions)", "--out", target]
    let process = try start("matching_workload.py", generator)
    while process.readLine() != nil {}
    guard process.wait() == 0 else {
      throw UsageError("\(directory)/matching_workload.py failed; give --scripts or --workload")
    }
  }

  /// Runs mokaccino on a workload; nil when it is not installed.
  func runMokaccino(_ workload: String, _ seconds: Double) throws -> Reading? {
    let process = try start("matching_mokaccino.py", [workload, "\(seconds)"])
    var lines: [String] = []
    while let line = process.readLine() { lines.append(line) }
    guard process.wait() == 0, let line = lines.last,
      // Any other output means that the script has no figures.
      let answer = try? JSONValue(parsing: line), let events = answer["events"]?.double
    else { return nil }
    return Reading(
      events: events, missing: answer["missing"]?.double ?? 0,
      extra: answer["extra"]?.double ?? 0)
  }

  private func start(_ script: String, _ words: [String]) throws -> ChildProcess {
    try ChildProcess(
      path: "/usr/bin/env", [python, directory + "/" + script] + words, readsOutput: true)
  }
}
