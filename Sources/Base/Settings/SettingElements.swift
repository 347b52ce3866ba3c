import JSONCoding

/// The texts that a list may have.
package struct SettingElements: Sendable {
  /// What the manual calls the list.
  package let name: String
  /// What a value must be.
  package let rule: String
  private let allowsText: @Sendable (String) -> Bool

  package init(
    _ name: String, rule: String, allows allowsText: @escaping @Sendable (String) -> Bool
  ) {
    (self.name, self.rule, self.allowsText) = (name, rule, allowsText)
  }

  func allows(_ value: JSONValue) -> Bool { value.string.map(allowsText) ?? false }
}
