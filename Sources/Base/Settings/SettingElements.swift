import JSONCoding

/// The rule for the texts in a list.
package struct SettingElements: Sendable {
  /// The description of the list in the manual, such as "list of address ranges".
  package let name: String
  /// The rule for the list as the end of a sentence, for errors, such as "must have ranges such as
  /// 10.0.0.0/8".
  package let rule: String
  private let allowsText: @Sendable (String) -> Bool

  package init(
    _ name: String, rule: String, allows allowsText: @escaping @Sendable (String) -> Bool
  ) {
    (self.name, self.rule, self.allowsText) = (name, rule, allowsText)
  }

  func allows(_ value: JSONValue) -> Bool { value.string.map(allowsText) ?? false }
}
