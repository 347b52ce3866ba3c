import Foundation

extension PetrelStrings {
  /// The languages that the user of this program prefers, the most preferred first.
  ///
  /// On Linux the languages come from environment variables, by the rules of gettext: first the
  /// list in `LANGUAGE`, then the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set. The
  /// result is empty if that variable is `C` or `POSIX`, or if none of the three is set. On Apple's
  /// systems the languages come from the system's settings.
  public static var userLanguages: [String] {
    #if os(Linux)
    userLanguages(in: ProcessInfo.processInfo.environment)
    #else
    Locale.preferredLanguages
    #endif
  }

  /// Returns the languages in these environment variables, by the rules of gettext.
  ///
  /// <https://www.gnu.org/software/gettext/manual/html_node/Locale-Environment-Variables.html>
  static func userLanguages(in environment: [String: String]) -> [String] {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"]
    let locale = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
    let tag = tag(ofLocale: locale)
    guard !tag.isEmpty else { return [] }
    let list = environment["LANGUAGE", default: ""].split(separator: ":").map {
      self.tag(ofLocale: String($0))
    }
    return (list + [tag]).filter { !$0.isEmpty }
  }

  /// Returns the language tag of a locale, such as `de-AT` for `de_AT.UTF-8@euro`; empty for `C`
  /// and `POSIX`.
  private static func tag(ofLocale locale: String) -> String {
    let name = locale.prefix { $0 != "." && $0 != "@" }
    return name == "C" || name == "POSIX" ? "" : String(name).replacing("_", with: "-")
  }
}
