import CommandInterface
import Foundation
import JSONCoding
import ServerHosting

/// The project's Python scripts for the matching benchmark. One creates a workload of subscriptions
/// and events. Another runs a workload in mokaccino, a matching library.
struct MatchingScripts {
  /// The figures of mokaccino.
  struct Reading {
    var events: Double
    /// The fraction of the expected matches that mokaccino did not find.
    var missing: Double
    /// The fraction of the found matches that were not expected.
    var extra: Double
  }

  var directory: String
  /// The Python interpreter: a name or a path.
  var python: String

  /// Writes the files of a workload into a folder. The files are the same in each run.
  func makeWorkload(_ subscriptions: Int, in target: String) throws {
    let generator = ["--subscriptions", "\(subscriptions)", "--out", target]
    let process = try start("matching_workload.py", generator)
    while process.readLine() != nil {}
    guard process.wait() == 0 else {
      throw UsageError("\(directory)/matching_workload.py failed; give --scripts or --workload")
    }
  }

  /// `nil` if mokaccino is not installed.
  func runMokaccino(_ workload: String, _ seconds: Double) throws -> Reading? {
    let process = try start("matching_mokaccino.py", [workload, "\(seconds)"])
    var lines: [String] = []
    while let line = process.readLine() { lines.append(line) }
    guard process.wait() == 0, let line = lines.last,
      // If the last line is not JSON, the script has no figures.
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
