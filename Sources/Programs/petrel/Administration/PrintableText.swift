import CloudKitModel
import JSONCoding

extension String {
  /// The text with escapes in place of control characters and other invisible characters, such as
  /// those that change the writing direction. Other people write the values of records, so these
  /// values must not control the terminal.
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

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: false
    }
  }

  /// Returns the text if it has at most `width` characters. Otherwise shortens it to `width`
  /// characters, with an ellipsis as the last one.
  func cut(to width: Int) -> String { count > width ? prefix(width - 1) + "…" : self }
}

extension JSONValue {
  /// A time in milliseconds since 1970 as ISO 8601; empty if the value is no number.
  var timeText: String {
    int.map { Timestamp(milliseconds: $0).iso8601 } ?? ""
  }

  /// The value of a record's field, as text for people. The notation shows the type, such as `'…'`
  /// for a string and `→name` for a reference. A field without a value is `nothing`.
  var fieldText: String {
    guard let value = self["value"] else { return "nothing" }
    return Self.text(value, type: self["type"]?.string ?? "")
  }

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
