import JSONCoding

/// What a setting declares of its key, whatever type its value has.
package struct ConfigurationKey: Sendable {
  package let name: String
  package let kind: SettingKind
  /// Whether the object that it is in cannot be without it.
  package var isRequired = false
  /// Whether a change counts only after a restart.
  package var needsRestart = false
  /// What the help calls the value of the option that goes over it; nil where there is no option.
  package var option: String?
  /// The name by which `server/limits` answers it; nil where clients do not learn it.
  package var clientLimit: String?
  /// The default as the manual has it, where it is no constant.
  package var defaultText: String?
  /// The default. ``SettingTable`` sets it.
  package internal(set) var defaultValue: JSONValue?
  /// What the manual says of it, in Markdown.
  package let meaning: String
}
