import JSONCoding

/// The declaration of a setting's key, independent of the type of its value.
package struct ConfigurationKey: Sendable {
  /// The name of the key in its object.
  package let name: String
  /// The allowed values.
  package let kind: SettingKind
  /// Whether the object that contains the key must have it.
  package var isRequired = false
  /// Whether a change takes effect only after a restart.
  package var needsRestart = false
  /// The placeholder for the value in the help of the command-line option; `nil` if there is no
  /// option.
  package var option: String?
  /// The name of the limit in the answer of `server/limits`; `nil` if clients do not get it.
  package var clientLimit: String?
  /// The default in words, for the manual; `nil` if the default is a constant.
  package var defaultText: String?
  /// The default, which ``SettingTable`` sets; `nil` if the default is not a constant or there is
  /// none.
  package internal(set) var defaultValue: JSONValue?
  /// The description of the setting in the manual, one sentence in Markdown.
  package let meaning: String
}
