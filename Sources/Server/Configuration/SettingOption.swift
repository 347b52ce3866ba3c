import Foundation
import Settings

/// An option of commands that sets a setting, over file and variables.
package struct SettingOption: Sendable {
  package static let all: [SettingOption] = ConfigurationKey.all.compactMap { key in
    key.option.map { SettingOption(key: key, valueName: $0) }
  }

  fileprivate let key: ConfigurationKey
  package let valueName: String

  /// Without the hyphens at the front, such as `public-url`.
  package var name: String { ConfigurationSources.words(of: key.name).joined(separator: "-") }

  /// The words that its value may be; empty where others may be, too.
  package var words: [String] {
    if case .choice(let words) = key.kind { words } else { [] }
  }

  /// The first sentence of the manual, without Markdown, and the default.
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
  /// Gives a setting the value of an option. A key that would name a file with the value does not count any more.
  ///
  /// - Returns: what is wrong with the text, after the option's name; nil when it may be.
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
