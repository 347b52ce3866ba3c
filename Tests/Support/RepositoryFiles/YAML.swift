import JSONCoding

/// Writes JSON as YAML 1.2 for people to read.
package enum YAML {
  /// Members that come first in an object; the others follow by name.
  private static let first = [
    "$ref", "tags", "summary", "description", "type", "parameters", "get",
  ]

  /// A block of members, in the order given.
  package static func text(
    _ members: [(name: String, value: JSONValue)], indentation: Int
  ) -> String {
    members.map { name, value in
      let start = String(repeating: " ", count: indentation) + scalar(name) + ":"
      return start + block(value, indentation: indentation + 2)
    }.joined()
  }

  /// A value behind a name, with the end of the line.
  private static func block(_ value: JSONValue, indentation: Int) -> String {
    let flow = flow(value)
    switch value {
    case .object(let members) where !members.isEmpty && (flow.utf8.count > 100 - indentation):
      return "\n" + text(ordered(members), indentation: indentation)
    case .array(let elements) where flow.utf8.count > 100 - indentation:
      let start = String(repeating: " ", count: indentation) + "-"
      return "\n"
        + elements.map { element in
          guard case .object(let members) = element,
            Self.flow(element).utf8.count > 98 - indentation
          else { return start + block(element, indentation: indentation + 2) }
          let lines = text(ordered(members), indentation: indentation + 2)
          return start + lines.dropFirst(indentation + 1)
        }.joined()
    default: return " " + flow + "\n"
    }
  }

  private static func ordered(
    _ members: [String: JSONValue]
  ) -> [(name: String, value: JSONValue)] {
    func rank(_ name: String) -> (Int, String) { (first.firstIndex(of: name) ?? first.count, name) }
    return members.sorted { rank($0.key) < rank($1.key) }.map { ($0.key, $0.value) }
  }

  /// A value in one line.
  private static func flow(_ value: JSONValue) -> String {
    switch value {
    case .object(let members) where members.isEmpty: return "{}"
    case .object(let members):
      let texts = ordered(members).map { "\(scalar($0.name)): \(flow($0.value))" }
      return "{ \(texts.joined(separator: ", ")) }"
    case .array(let elements): return "[\(elements.map(flow).joined(separator: ", "))]"
    case .string(let text): return scalar(text)
    case .null, .bool, .int, .double: return value.text
    }
  }

  /// A text, in quotes unless it is a word that can stand for nothing else.
  private static func scalar(_ text: String) -> String {
    let isPath = text.wholeMatch(of: #/\/[A-Za-z0-9\/{}]*/#) != nil
    let isWord =
      text.wholeMatch(of: #/[A-Za-z_][A-Za-z0-9\/_.\-]*/#) != nil
      && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(text.lowercased())
    return isPath || isWord ? text : JSONValue.string(text).text
  }
}
