import CloudKitModel
import JSONCoding

extension String {
  /// The text with escapes in place of control characters and characters that change the writing
  /// direction. Values of records come from other people, so they must not control the terminal.
  var printable: String {
    guard unicodeScalars.contains(where: Self.isActive) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case _ where Self.isActive(scalar): text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Whether a terminal could act on the character instead of showing it.
  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: false
    }
  }

  /// Returns the text, shortened to `width` characters with an ellipsis at the end.
  func cut(to width: Int) -> String { count > width ? prefix(width - 1) + "…" : self }
}

extension JSONValue {
  /// A time in milliseconds since 1970 as ISO 8601; empty if the value is no number.
  var timeText: String {
    int.map { Timestamp(milliseconds: $0).iso8601 } ?? ""
  }

  /// The value of a record's field for people. Its notation shows the type, such as `'…'` for a
  /// string and `→name` for a reference.
  var fieldText: String {
    guard let value = self["value"] else { return "nothing" }
    return Self.text(value, type: self["type"]?.string ?? "")
  }

  /// Returns the notation of a value or a list.
  private static func text(_ value: JSONValue, type: String) -> String {
    if let elements = value.array {
      let element = type.hasSuffix("_LIST") ? String(type.dropLast(5)) : type
      return "[" + elements.map { text($0, type: element) }.joined(separator: ", ") + "]"
    }
    if type == "TIMESTAMP" { return value.timeText }
    if type == "BYTES" { return "\((value.string?.utf8.count ?? 0) * 3 / 4) bytes" }
    if let latitude = value["latitude"]?.double, let longitude = value["longitude"]?.double {
      return "(\(latitude), \(longitude))"
    }
    if let name = value["recordName"]?.string { return "→\(name)" }
    if let checksum = value["fileChecksum"]?.string {
      return "file of \(value["size"]?.int ?? 0) bytes, \(checksum.prefix(12))…"
    }
    if let string = value.string, type == "STRING" || type.isEmpty { return "'\(string)'" }
    return value.string ?? value.text
  }
}
