import CommandInterface
import Foundation
import JSONCoding
import Synchronization

/// What a benchmark tells: lines for people as they come, or all of its figures as one JSON object when
/// it is done.
final class BenchmarkReport: Sendable {
  static let option = Arguments.Option(
    "json", nil, "prints the figures as one JSON object at the end")

  private let isJSON: Bool
  private let figures: Mutex<[String: JSONValue]>

  /// - Parameter name: of the benchmark, which the figures bear.
  init(_ name: String, _ arguments: Arguments) {
    isJSON = arguments.flag("json")
    figures = Mutex(["benchmark": .string(name)])
  }

  /// A line for people.
  func line(_ text: @autoclosure () -> String) {
    if !isJSON { Output.line(text()) }
  }

  /// Figures of the whole.
  func set(_ members: [String: JSONValue]...) {
    figures.withLock { figures in
      for members in members { figures.merge(members) { $1 } }
    }
  }

  /// Figures of one measurement among several, in a list.
  func row(_ list: String, _ members: [String: JSONValue]...) {
    let row = members.reduce(into: [:]) { $0.merge($1) { $1 } }
    figures.withLock { $0[list] = .array(($0[list]?.array ?? []) + [.object(row)]) }
  }

  /// Further figures of the list's last measurement.
  func extend(_ list: String, _ members: [String: JSONValue]...) {
    figures.withLock { figures in
      var rows = figures[list]?.array ?? []
      var row = rows.popLast()?.object ?? [:]
      for members in members { row.merge(members) { $1 } }
      figures[list] = .array(rows + [.object(row)])
    }
  }

  /// Prints the figures where they are asked for.
  func end() {
    if isJSON { Output.json(.object(figures.withLock { $0 })) }
  }
}

extension JSONValue {
  /// A measured number; null where there is none, as in a ratio to nothing.
  static func figure(_ value: Double) -> JSONValue { value.isFinite ? .double(value) : .null }

  /// A counted number.
  static func figure(_ value: Int) -> JSONValue { .int(Int64(value)) }
}

extension Percentiles {
  /// Mean, median, 99th percentile and greatest, in milliseconds.
  ///
  /// - Parameter prefix: what their names begin with where there are several kinds of times.
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
  /// What happened when, with the memory that the process had then.
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
