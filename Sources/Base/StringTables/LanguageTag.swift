import Foundation

/// The functions for language tags (BCP 47), such as `zh-Hant-TW`. They also accept the older
/// spelling with underscores, such as `zh_TW`.
enum LanguageTag {
  static func canonical(_ tag: String) -> String {
    tag.lowercased().replacing("_", with: "-")
  }

  /// Returns the tags under which a text for a wanted language may be found, the closest first.
  ///
  /// 1. The tag itself.
  /// 2. The tag with the language, script and region that it implies, then this tag with fewer and
  ///   fewer parts, down to two. `zh-TW` implies `zh-Hant-TW`, so the folder `zh-Hant.lproj` is
  ///   found.
  /// 3. The tag itself with fewer and fewer parts, down to one.
  ///
  /// <https://www.rfc-editor.org/rfc/rfc4647#section-3.4>
  static func lookup(_ tag: String) -> [String] {
    let tag = canonical(tag)
    let full = canonical(Locale.Language(identifier: tag).maximalIdentifier)
    return [tag] + truncations(of: full).filter { $0.contains("-") } + truncations(of: tag)
  }

  /// Returns a tag, then the same tag without its last part, and so on down to one part.
  private static func truncations(of tag: String) -> [String] {
    var parts = tag.split(separator: "-")
    var tags: [String] = []
    while !parts.isEmpty {
      tags.append(parts.joined(separator: "-"))
      parts.removeLast()
      // A part of one character begins an extension. Without the parts after it, it has no meaning.
      if parts.last?.count == 1 { parts.removeLast() }
    }
    return tags
  }
}
