import JSONCoding

/// The declaration of a setting's key, independent of the type of its value.
package struct ConfigurationKey: Sendable {
  package let name: String
  package let kind: SettingKind
  package var isRequired = false
  package var needsRestart = false
  /// The placeholder for the value in the help; `nil` if there is no command-line option.
  package var option: String?
  /// The name of the limit in the answer of `server/limits`; `nil` if clients do not get it.
  package var clientLimit: String?
  /// The default in words, for the manual; `nil` if the default is a constant.
  package var defaultText: String?
  /// Set by ``SettingTable``; `nil` if the default is not a constant or there is none.
  package internal(set) var defaultValue: JSONValue?
  /// The description of the setting in the manual, one sentence in Markdown.
  package let meaning: String
}
