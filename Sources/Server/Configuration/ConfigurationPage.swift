import Foundation
import JSONCoding
import Settings

/// The generator of the tables of settings in the reference page of the configuration.
///
/// A table is placed between `<!-- settings of limits -->` and `<!-- end of settings -->`. The text
/// after `of` is the name of an object in the configuration, such as `limits`. In
/// `containers.*.apns`, the `*` stands for the name of any container. `server.json` is the
/// outermost object. If all keys of an object are objects with the same keys, only one table
/// describes these objects. Its name has `*` in place of their names.
package enum ConfigurationPage {
  private static let top = "server.json"
  private static let start = "<!-- settings of "
  private static let end = "<!-- end of settings -->"

  /// Returns the page with new tables. A test compares the result with the page in the repository.
  package static func renewing(_ page: String) throws(ConfigurationError) -> String {
    var tables: [String: String] = [:]
    add(ConfigurationKey.all, at: "", to: &tables)
    var lines: [Substring] = []
    var isInTable = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == end { isInTable = false }
      guard !isInTable else { continue }
      lines.append(line)
      guard line.hasPrefix(start) else { continue }
      let name = line.dropFirst(start.count).prefix { $0 != " " }
      guard let table = tables.removeValue(forKey: String(name)) else {
        throw ConfigurationError("the page has a table of '\(name)', which is not an object")
      }
      lines += ["", Substring(table), ""]
      isInTable = true
    }
    guard !isInTable else { throw ConfigurationError("the last table of the page has no end") }
    guard tables.isEmpty else {
      throw ConfigurationError(
        "the page has no table of \(tables.keys.sorted().joined(separator: ", "))")
    }
    return lines.joined(separator: "\n")
  }

  /// Adds the tables of an object and of the objects in it.
  private static func add(
    _ keys: [ConfigurationKey], at path: String, to tables: inout [String: String]
  ) {
    tables[path.isEmpty ? top : path] =
      (["| key | value | default | meaning |", "| --- | --- | --- | --- |"] + keys.map(row))
      .joined(separator: "\n")
    let parts = keys.compactMap { key in key.kind.keys.map { (key, $0) } }
    let areAlike = parts.count == keys.count && Set(parts.map { $0.1.map(\.name) }).count == 1
    for (key, members) in parts {
      let name = areAlike ? "*" : key.name
      let isNamed = if case .named = key.kind { true } else { false }
      add(
        members, at: (path.isEmpty ? "" : path + ".") + name + (isNamed ? ".*" : ""), to: &tables)
    }
  }

  private static func row(_ key: ConfigurationKey) -> String {
    let restart = key.needsRestart ? " Takes effect after a restart." : ""
    let cells = ["`\(key.name)`", key.kind.values, key.standard, key.meaning + restart]
    return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }
}

extension ConfigurationKey {
  /// The default as Markdown: the word `needed` for a required key, and a dash if there is no
  /// default.
  fileprivate var standard: String {
    if isRequired { return "needed" }
    if let defaultText { return defaultText }
    switch (defaultValue, kind) {
    case (.int(let number)?, .whole(_, let unit)), (.int(let number)?, .number(_, let unit)):
      return unit.text(number) + unit.name
    case (.array([])?, _): return "none"
    case (.object?, _), (nil, _): return "–"
    case (let value?, _): return "`\(value.string ?? value.text)`"
    }
  }
}

extension SettingKind {
  /// The permitted values as Markdown.
  fileprivate var values: String {
    switch self {
    case .text: "text"
    case .webURL: "URL with `https:` or `http:`"
    case .secret: "text, not shown"
    case .file: "file"
    case .folder: "folder"
    case .whole(let range, let unit):
      "\(unit.text(range.lowerBound)) to \(unit.text(range.upperBound))\(unit.name)"
    case .number(let range, let unit):
      "\(unit.text(Int64(range.lowerBound))) to \(unit.text(Int64(range.upperBound)))\(unit.name), a fraction too"
    case .positive(let most):
      "above 0, at most \(SettingUnit.count.text(Int64(most))), a fraction too"
    case .boolean: "`true`, `false`"
    case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
    case .list(let elements): elements.name
    case .object: "object"
    case .named: "objects by name"
    }
  }
}

extension SettingUnit {
  private static let sizes: [(Int64, String)] = [
    (1 << 60, "EiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"),
  ]

  /// Returns a number as text. Numbers from 10,000 have commas between thousands. For a number of
  /// bytes, the text uses the largest of ``sizes`` that divides the number without a remainder.
  fileprivate func text(_ number: Int64) -> String {
    let size = Self.sizes.first { self == .bytes && number > 0 && number % $0.0 == 0 }
    let count = number / (size?.0 ?? 1)
    let text =
      count < 10_000 ? "\(count)" : count.formatted(.number.locale(Locale(identifier: "en_US")))
    return text + (size.map { " \($0.1)" } ?? "")
  }

  /// The unit after a number. It is empty for a plain count, and for bytes, whose unit ``text(_:)``
  /// adds.
  fileprivate var name: String { self == .count || self == .bytes ? "" : " \(rawValue)" }
}
