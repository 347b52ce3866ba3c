import Foundation
import Settings

/// A command-line option that sets a setting, such as `--port`. Its value overrides the file and
/// the environment variables.
package struct SettingOption: Sendable {
  /// All options: one for each setting that declares an option.
  package static let all: [SettingOption] = ConfigurationKey.all.compactMap { key in
    key.option.map { SettingOption(key: key, valueName: $0) }
  }

  fileprivate let key: ConfigurationKey
  /// The placeholder of the value in the help, such as `PORT`.
  package let valueName: String

  /// The option's name without the leading hyphens, such as `public-url`.
  package var name: String { ConfigurationSources.words(of: key.name).joined(separator: "-") }

  /// The permitted values if the setting is a choice of words; otherwise empty.
  package var words: [String] {
    if case .choice(let words) = key.kind { words } else { [] }
  }

  /// The option's description for the help: the first sentence of the setting's description without
  /// Markdown, and the default.
  package var help: String {
    let sentence = key.meaning.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
      .components(separatedBy: ". ")[0].trimmingCharacters(in: ["."])
    let start = sentence.prefix(1).lowercased() + sentence.dropFirst()
    let choice = words.isEmpty ? "" : ": " + words.joined(separator: ", ")
    let standard = key.defaultText ?? key.defaultValue.map { $0.string ?? $0.text }
    return (start + choice + (standard.map { " (default \($0))" } ?? "")).replacing("`", with: "")
  }
}

extension ConfigurationSources {
  /// Sets a setting to an option's value. If there is a second key for the name of a file with the
  /// value, such as `storeFile` for `store`, the method makes that key count as missing.
  ///
  /// - Returns: the rule that the value breaks, as the end of an error message after the option's
  ///   name; nil for a valid value.
  package mutating func set(_ option: SettingOption, to text: String) -> String? {
    let key = option.key
    guard let value = key.kind.value(ofText: text), key.kind.allows(value) else {
      return "\(key.kind.rule), not '\(text)'"
    }
    let fileKey = key.name + "File"
    if ConfigurationKey.all.contains(where: { $0.name == fileKey }) {
      set([fileKey], to: .null, by: .flag("--" + option.name))
    }
    set([key.name], to: value, by: .flag("--" + option.name))
    return nil
  }
}
