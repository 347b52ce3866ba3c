import JSONCoding

/// The result of a health check: one entry for each part of the server that was checked.
struct HealthReport: Sendable {
  /// The result for one part of the server.
  struct Check: Sendable {
    /// The name of the part, such as `store`.
    var name: String
    /// The fault of the part, for people; nil if the part works. A fault makes the whole report
    /// bad.
    var trouble: String?
    /// A problem that the operator should examine although the server can answer requests; nil for
    /// none.
    var warning: String?
  }

  /// The results, each with a different name.
  var checks: [Check]

  /// Whether no part has a fault. Warnings do not count.
  var isGood: Bool { checks.allSatisfy { $0.trouble == nil } }

  /// Returns the report as JSON: `{"status": "ok", "checks": {"store": "ok", …}}`.
  ///
  /// A part with a fault has the value `failing`, a part with a warning the value `warning`.
  ///
  /// - Parameter isDetailed: whether the descriptions of faults and warnings follow after a colon.
  func json(isDetailed: Bool) -> JSONValue {
    .object([
      "status": .string(isGood ? "ok" : "failing"),
      "checks": .object(
        Dictionary(
          uniqueKeysWithValues: checks.map { check in
            guard let text = check.trouble ?? check.warning else {
              return (check.name, .string("ok"))
            }
            let word = check.trouble == nil ? "warning" : "failing"
            return (check.name, .string(isDetailed ? "\(word): \(text)" : word))
          })),
    ])
  }
}
