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

  /// Whether every part works. A warning does not make the report bad.
  var isGood: Bool { checks.allSatisfy { $0.trouble == nil } }

  /// Returns the report as JSON: `{"status": "ok", "checks": {"store": "ok", …}}`.
  ///
  /// The value of a part with a fault is `failing`, and the value of a part with a warning is
  /// `warning`.
  ///
  /// - Parameter isDetailed: whether a value continues with a colon and the description of the
  ///   fault or warning.
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
