import CommandInterface
import Foundation
import JSONCoding
import Synchronization

/// The output of a benchmark. By default, it prints lines for people while the benchmark runs. With
/// `--json`, it prints all figures as one JSON object at the end.
///
/// Any thread may call the methods; a lock protects the figures.
final class BenchmarkReport: Sendable {
  /// The flag that every benchmark accepts.
  static let option = Arguments.Option(
    "json", nil, "prints the figures as one JSON object at the end")

  private let isJSON: Bool
  private let figures: Mutex<[String: JSONValue]>

  /// Creates a report.
  ///
  /// - Parameter name: The value of the member `benchmark` of the JSON object.
  init(_ name: String, _ arguments: Arguments) {
    isJSON = arguments.flag("json")
    figures = Mutex(["benchmark": .string(name)])
  }

  /// Prints a line for people. The method does nothing with `--json`.
  func line(_ text: @autoclosure () -> String) {
    if !isJSON { Output.line(text()) }
  }

  /// Sets figures of the whole benchmark. A later value with the same name replaces the earlier
  /// one.
  func set(_ members: [String: JSONValue]...) {
    figures.withLock { figures in
      for members in members { figures.merge(members) { $1 } }
    }
  }

  /// Appends the figures of one measurement to a list.
  func row(_ list: String, _ members: [String: JSONValue]...) {
    let row = members.reduce(into: [:]) { $0.merge($1) { $1 } }
    figures.withLock { $0[list] = .array(($0[list]?.array ?? []) + [.object(row)]) }
  }

  func extend(_ list: String, _ members: [String: JSONValue]...) {
    figures.withLock { figures in
      var rows = figures[list]?.array ?? []
      var row = rows.popLast()?.object ?? [:]
      for members in members { row.merge(members) { $1 } }
      figures[list] = .array(rows + [.object(row)])
    }
  }

  func end() {
    if isJSON { Output.json(.object(figures.withLock { $0 })) }
  }
}

extension JSONValue {
  /// Returns a measured number as JSON; `null` for NaN and infinity, such as a ratio to 0.
  static func figure(_ value: Double) -> JSONValue { value.isFinite ? .double(value) : .null }

  static func figure(_ value: Int) -> JSONValue { .int(Int64(value)) }
}

extension Percentiles {
  /// Returns the mean, the median, the 99th percentile and the maximum, in milliseconds, by the
  /// names of the figures.
  ///
  /// - Parameter prefix: The beginning of the figures' names, if a benchmark has several kinds of
  ///   times.
  func figures(_ prefix: String = "") -> [String: JSONValue] {
    let values = [
      "mean": mean, "p50": quantile(0.5), "p99": quantile(0.99), "greatest": quantile(1),
    ]
    return Dictionary(
      uniqueKeysWithValues: values.map { name, seconds in
        let name = prefix.isEmpty ? name : prefix + name.prefix(1).uppercased() + name.dropFirst()
        return (name + "Milliseconds", JSONValue.figure(seconds * 1000))
      })
  }
}

extension PushTimeline {
  /// The events in order, each with its time and the resident memory of the process.
  var figures: JSONValue {
    .array(
      marks.map { mark in
        [
          "event": .string(mark.name), "seconds": .figure(mark.seconds),
          "residentBytes": .figure(mark.resident),
        ]
      })
  }
}
