import Foundation

/// Language tags of BCP 47, and the older forms of `.lproj` folders and of `LANG`.
enum LanguageTag {
  /// A tag for comparison: in lower case, with hyphens.
  static func canonical(_ tag: String) -> String {
    tag.lowercased().replacing("_", with: "-")
  }

  /// The tags to try for a wanted language, the closest first: the tag itself, then with the script that its region
  /// implies (`zh-TW` means `zh-Hant-TW`, whose folder is `zh-Hant.lproj`), then ever shorter ones.
  ///
  /// <https://www.rfc-editor.org/rfc/rfc4647#section-3.4>
  static func lookup(_ tag: String) -> [String] {
    let tag = canonical(tag)
    let full = canonical(Locale.Language(identifier: tag).maximalIdentifier)
    return [tag] + truncations(of: full).filter { $0.contains("-") } + truncations(of: tag)
  }

  private static func truncations(of tag: String) -> [String] {
    var parts = tag.split(separator: "-")
    var tags: [String] = []
    while !parts.isEmpty {
      tags.append(parts.joined(separator: "-"))
      parts.removeLast()
      // A single character begins an extension; it means nothing by itself.
      if parts.last?.count == 1 { parts.removeLast() }
    }
    return tags
  }
}
