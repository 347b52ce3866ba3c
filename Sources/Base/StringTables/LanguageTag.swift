import Foundation

/// The language tags of BCP 47, and their older forms in `.lproj` folders and in `LANG`.
enum LanguageTag {
  /// Returns a tag for comparison: in lower case, with hyphens.
  static func canonical(_ tag: String) -> String {
    tag.lowercased().replacing("_", with: "-")
  }

  /// Returns the tags to try for a wanted language, the closest first.
  ///
  /// 1. The tag itself.
  /// 2. The tag with the script that its region implies, then shorter ones. `zh-TW` means
  ///   `zh-Hant-TW`, whose folder is `zh-Hant.lproj`.
  /// 3. The tag itself, ever shorter.
  ///
  /// <https://www.rfc-editor.org/rfc/rfc4647#section-3.4>
  static func lookup(_ tag: String) -> [String] {
    let tag = canonical(tag)
    let full = canonical(Locale.Language(identifier: tag).maximalIdentifier)
    return [tag] + truncations(of: full).filter { $0.contains("-") } + truncations(of: tag)
  }

  /// Returns a tag and its shorter forms.
  private static func truncations(of tag: String) -> [String] {
    var parts = tag.split(separator: "-")
    var tags: [String] = []
    while !parts.isEmpty {
      tags.append(parts.joined(separator: "-"))
      parts.removeLast()
      // A single character begins an extension and means nothing without it.
      if parts.last?.count == 1 { parts.removeLast() }
    }
    return tags
  }
}
