import JSONCoding

/// What a look at the server's health has shown.
struct HealthReport: Sendable {
  struct Check: Sendable {
    /// What was looked at, such as `store`.
    var name: String
    /// What is wrong, for people; nil when all is well.
    var trouble: String?
    /// What is to be looked at though requests can be sent, for people.
    var warning: String?
  }

  var checks: [Check]

  var isGood: Bool { checks.allSatisfy { $0.trouble == nil } }

  /// `{"status": "ok", "checks": {"store": "ok", …}}`; what fails has the status `failing`, and what
  /// need not be waited for `warning`.
  ///
  /// - Parameter isDetailed: whether the words about what is wrong are in it.
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
