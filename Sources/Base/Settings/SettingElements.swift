import JSONCoding

/// The rule for the texts in a list.
package struct SettingElements: Sendable {
  /// The manual's name of the list.
  package let name: String
  /// The rule for a value, for errors, such as "must have ranges such as 10.0.0.0/8".
  package let rule: String
  private let allowsText: @Sendable (String) -> Bool

  /// Creates a rule.
  ///
  /// - Parameter allowsText: returns whether the list may have a text.
  package init(
    _ name: String, rule: String, allows allowsText: @escaping @Sendable (String) -> Bool
  ) {
    (self.name, self.rule, self.allowsText) = (name, rule, allowsText)
  }

  /// Whether a list may have this value.
  func allows(_ value: JSONValue) -> Bool { value.string.map(allowsText) ?? false }
}
